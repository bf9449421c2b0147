/** Requests that violate HTTP, but that Node.js parses at least in part. Each gets a 400 with the error body. */

import { describe, expect, test } from 'vitest';
import { cannotExpress } from '../../support/carrier.ts';
import { sendLast, sendRaw } from '../../support/connection.ts';
import { sharedServer } from '../../support/server.ts';
import { METHODS, PATHS, REX, UNKNOWN_TARGETS } from './paths.ts';

const CHUNKS = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
const CODING = 'Transfer-Encoding must be chunked';
const ORIGIN = 'https://app.example';

const server = sharedServer('memory', { corsOrigins: [ORIGIN] });
const versioned = test.skipIf(cannotExpress('the version of HTTP'));
const fields = () => `Host: x\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n`;
const chunked = (requestLine: string, coding: string, head = fields()) =>
  `${requestLine}\r\n${head}Transfer-Encoding: ${coding}\r\n\r\n${CHUNKS}`;

/** Expects that a message gets one response, the last one of its connection. Returns the message of the error. */
async function refusalOf(message: string, status = 400): Promise<string> {
  const answers = await sendLast(server.origin, message);
  expect(answers, message).toMatchObject([{ status, headers: { connection: 'close' } }]);
  const [{ body = '' } = {}] = answers;
  return body === '' ? '' : JSON.parse(body).message;
}

describe('a transfer coding other than chunked', () => {
  test.each([
    'gzip, chunked',
    'GZIP , CHUNKED',
    'identity, chunked',
    ', chunked',
    'chunked, chunked',
    'x;a=b, chunked',
    'gzip\r\nTransfer-Encoding: chunked',
    'chunked\r\ntransfer-encoding: chunked',
    'chunked;a=b',
    'gzip',
    '"chunked"',
    '',
  ])('is refused, and its pet is not stored: %j', async (coding) => {
    const message = await refusalOf(chunked('POST /v1/pets HTTP/1.1', coding));
    expect(message).toMatch(/^(Transfer-Encoding must be chunked|the message is not valid HTTP)$/);
    expect((await server.client.get('/v1/pets')).body).toBe('[]');
  });

  test('is refused on every path with every method, after the key', async () => {
    const targets = [...PATHS.map((path) => path.target), ...UNKNOWN_TARGETS, 'http://x/livez'];
    if (!cannotExpress('the target *')) targets.push('*');
    for (const target of targets) {
      const needsKey = /^\/v1([/?]|$)/.test(target);
      for (const method of target === '/v1/pets' || target === '/livez' ? METHODS : ['PATCH']) {
        const requestLine = `${method} ${target} HTTP/1.1`;
        expect(await refusalOf(chunked(requestLine, 'gzip, chunked'))).toBe(method === 'HEAD' ? '' : CODING);
        await refusalOf(chunked(requestLine, 'gzip, chunked', 'Host: x\r\n'), needsKey ? 401 : 400);
      }
    }
    const preflight = `Host: x\r\nOrigin: ${ORIGIN}\r\nAccess-Control-Request-Method: POST\r\n`;
    for (const target of ['/v1/pets', '/livez']) {
      expect(await refusalOf(chunked(`OPTIONS ${target} HTTP/1.1`, 'gzip, chunked', preflight))).toBe(CODING);
    }
  });

  test.each([
    ['POST /livez HTTP/1.1', 'gzip, chunked'],
    ['POST /v1/pets HTTP/1.1', 'identity, chunked'],
    ['GET /v1/pets/1 HTTP/1.1', 'gzip, chunked'],
    ...(cannotExpress('the version of HTTP')
      ? []
      : [
          ['POST /v1/pets HTTP/1.0', 'chunked'],
          ['POST /v1/pets HTTP/2.0', 'chunked'],
        ]),
  ])('prevents all later requests of its connection: %s, %s', async (requestLine, coding) => {
    const first = chunked(requestLine, coding);
    const create = `POST /v1/pets HTTP/1.1\r\n${fields()}Content-Length: ${REX.length}\r\n\r\n${REX}`;
    for (const pieces of [[first + create.repeat(3)], [first, create.repeat(3)]]) {
      expect(await sendLast(server.origin, ...pieces)).toMatchObject([{ status: 400 }]);
    }
    expect((await server.client.get('/v1/pets')).body).toBe('[]');
  });

  test.each(['chunked', 'Chunked', 'CHUNKED', ' chunked  '])('does not include %j', async (coding) => {
    const answer = await sendRaw(server.origin, chunked('PUT /v1/pets HTTP/1.1', coding));
    expect(answer.status).toBe(405);
  });

  versioned.each(['/livez', '/v1/pets'])('includes chunked in HTTP/1.0: %s', async (target) => {
    const head = `${fields()}Connection: keep-alive\r\n`;
    const message = await refusalOf(chunked(`POST ${target} HTTP/1.0`, 'chunked', head));
    expect(message).toBe('Transfer-Encoding is not supported in HTTP/1.0');
  });
});

versioned.each([' HTTP/0.9', ' HTTP/2.0', ''])(
  'the version%s is not supported, on any path',
  async (version) => {
    const shown = version === '' ? '0.9' : version.slice(' HTTP/'.length);
    for (const target of ['/livez', '/docs', '/nothing', '/v1/pets', '/v1/nothing']) {
      const message = await refusalOf(`GET ${target}${version}\r\n${fields()}\r\n`);
      expect(message).toBe(`HTTP/${shown} is not supported: expected HTTP/1.0 or HTTP/1.1`);
    }
    await refusalOf(`GET /v1/pets${version}\r\nHost: x\r\n\r\n`, 401);
  },
);

describe('Host', () => {
  const key = () => `Authorization: Bearer ${server.key}\r\n`;
  const ask = (target: string, hosts: string, version = '1.1') =>
    sendRaw(server.origin, Buffer.from(`GET ${target} HTTP/${version}\r\n${hosts}${key()}\r\n`, 'latin1'));

  test.skipIf(cannotExpress('a missing Host'))(
    'must be there once in HTTP/1.1, and at most once in HTTP/1.0',
    async () => {
      for (const target of ['/livez', '/v1/pets', '/nothing']) {
        for (const [hosts, version] of [
          ['', '1.1'],
          ['Host: x\r\nHost: x\r\n', '1.1'],
          ['Host: x\r\nhost: y\r\n', '1.1'],
          ['Host: x\r\nHost: x\r\n', '1.0'],
        ] as const) {
          const { status, body } = await ask(target, hosts, version);
          expect([status, JSON.parse(body).message]).toEqual([400, 'Host must be given once']);
        }
      }
      for (const target of ['/livez', '/v1/pets']) expect((await ask(target, '', '1.0')).status).toBe(200);
    },
  );

  test('must be a host name or an IP address, optionally with a port', async () => {
    const invalid =
      'me@x me:hunter2@x x:0 x:000 x:65536 x:99999 x:123456789012345678901 x:port x:-1 x:+1 x:1:2 http://x x/y x?y ' +
      'x#y x,y x\\y "x" <script> x%41 \u00e4 ::1 [::1 [] [x] [::1]x x[::1] [::1]:0';
    for (const host of [...invalid.split(' '), 'x y', 'x, y', 'x\ty', 'x'.repeat(256)]) {
      for (const target of ['/livez', 'http://x/livez']) {
        const { status, body } = await ask(target, `Host: ${host}\r\n`);
        expect([status, JSON.parse(body).message], host).toEqual([
          400,
          'Host must be a host name or an IP address, optionally with a port from 1 to 65535',
        ]);
      }
    }
    const valid = 'x X.example. a_b-c x: x:1 x:65535 x:0080 127.0.0.1:3000 [::1]:3000 [::ABCD]';
    for (const host of ['', ...valid.split(' '), 'x'.repeat(255)]) {
      for (const version of ['1.0', '1.1']) {
        expect((await ask('/v1/pets', `Host: ${host}\r\n`, version)).status, host).toBe(200);
      }
    }
  });
});

test.skipIf(cannotExpress('a target that is not a URL'))(
  'the target must be a path or an HTTP URL',
  async () => {
    const ask = (method: string, target: string) =>
      sendRaw(server.origin, `${method} ${target} HTTP/1.1\r\n${fields()}\r\n`);
    const invalid =
      'http://me@x/livez http://me:hunter2@x/livez https://me:hunter2@x/v1/pets http://@x/livez http://x@y@z/livez ' +
      'http://me:hunter2@x http://x:0/livez http://x:99999/livez http:///livez http://?livez http:// http://[:: ' +
      'http://[::1/livez http://[x]/livez http://%zz/livez http://x%2fy/livez ftp://x/livez ws://x/livez ' +
      'xhttp://x/livez file:///livez javascript://x/livez *x /livez#x /livez?x#y /v1/pets#x /#';
    for (const target of invalid.split(' ')) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, body } = await ask(method, target);
        expect([status, JSON.parse(body).code], target).toEqual([400, 'invalid_request']);
        expect(body).not.toContain('hunter2');
      }
    }
    const valid = '/livez /livez? /livez?me@x http://x/livez HTTPS://X:1/livez?a http://[::1]:1/livez';
    for (const target of valid.split(' ')) expect((await ask('GET', target)).status, target).toBe(200);
    expect((await ask('GET', 'http://x:/me@y')).status).toBe(404);
  },
);

test('none of these is an error of the server, and later requests are handled', async () => {
  await sendRaw(server.origin, 'garbage\r\n\r\n');
  expect((await server.client.get('/livez')).status).toBe(200);
  expect(server.errors).toEqual([]);
});
