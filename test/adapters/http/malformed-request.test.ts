/** Requests that violate HTTP, but that Node.js parses at least in part. Each gets a 400 with the error body. */

import { describe, expect, test } from 'vitest';
import type { Answer } from '../../support/client.ts';
import { Connection, sendRaw } from '../../support/connection.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';

const PET = '{"name":"Rex","categoryId":1}';
const CHUNKS = `${PET.length.toString(16)}\r\n${PET}\r\n0\r\n\r\n`;
const ORIGIN = 'https://app.example';

const REFUSED = { status: 400, headers: { connection: 'close' } };

function codeOf({ body }: Answer): string {
  return JSON.parse(body).code;
}

describe.each(STORAGES)('a malformed request, on %s', (storage) => {
  const server = sharedServer(storage, { corsOrigins: [ORIGIN] });
  const authorized = () => `Authorization: Bearer ${server.key}\r\n`;

  /** Sends a message, and resolves with all responses until the server closes the connection. */
  async function responsesTo(message: string): Promise<Answer[]> {
    const connection = await Connection.open(server.origin);
    connection.write(message);
    const answers = await connection.rest();
    connection.destroy();
    return answers;
  }

  describe('with a transfer coding other than chunked', () => {
    const message = (requestLine: string, coding: string, fields: string) =>
      `${requestLine} HTTP/1.1\r\nHost: x\r\n${fields}Content-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n${CHUNKS}`;

    test.each([
      'gzip, chunked',
      'gzip,chunked',
      'GZIP , CHUNKED',
      'deflate, gzip, chunked',
      'identity, chunked',
      ', chunked',
      'chunked, chunked',
      'x;a=b, chunked',
      'gzip\r\nTransfer-Encoding: chunked',
      'identity\r\ntransfer-encoding: chunked',
      'chunked\r\nTransfer-Encoding: chunked',
      'chunked;a=b',
      'gzip',
      '"chunked"',
      '',
    ])('is refused, and its pet is not stored: %j', async (coding) => {
      const answers = await responsesTo(message('POST /v1/pets', coding, authorized()));
      expect(answers).toMatchObject([REFUSED]);
      expect(answers.map(codeOf)).toEqual(['invalid_request']);
      expect((await server.client.get('/v1/pets')).body).toBe('[]');
    });

    test.each([
      'GET /livez',
      'POST /livez',
      'GET /readyz',
      'GET /docs',
      'DELETE /docs/icon.svg',
      'GET /openapi.json',
      'GET /nothing',
      'OPTIONS *',
      'OPTIONS /livez',
      'GET http://x/livez',
      'GET /v1/pets',
      'GET /v1/pets/1',
      'PUT /v1/pets',
      'OPTIONS /v1/pets',
      'PATCH /v1/nothing',
      'POST /v1',
    ])('is refused on every method and path: %s', async (requestLine) => {
      const answers = await responsesTo(message(requestLine, 'gzip, chunked', authorized()));
      expect(answers).toMatchObject([REFUSED]);
      expect(answers.map(codeOf)).toEqual(['invalid_request']);
      expect(answers[0]?.body).toContain('Transfer-Encoding');
    });

    test('is refused for HEAD and for the preflight of a browser', async () => {
      expect(await responsesTo(message('HEAD /livez', 'gzip, chunked', ''))).toMatchObject([REFUSED]);
      const preflight = `Origin: ${ORIGIN}\r\nAccess-Control-Request-Method: POST\r\n`;
      for (const target of ['/v1/pets', '/livez']) {
        const answers = await responsesTo(message(`OPTIONS ${target}`, 'gzip, chunked', preflight));
        expect(answers).toMatchObject([REFUSED]);
      }
    });

    test.each(['GET /v1/pets', 'POST /v1/pets', 'DELETE /v1/nothing', 'GET http://x/v1/pets/1'])(
      'without a key gets a 401, and the connection is closed: %s',
      async (requestLine) => {
        for (const fields of ['', `Authorization: Bearer wrong\r\n`]) {
          const answers = await responsesTo(message(requestLine, 'gzip, chunked', fields));
          expect(answers).toMatchObject([{ status: 401, headers: { connection: 'close' } }]);
        }
      },
    );
  });

  test.each([
    ['POST /livez HTTP/1.1', 'gzip, chunked'],
    ['POST /v1/pets HTTP/1.1', 'gzip, chunked'],
    ['POST /v1/pets HTTP/1.1', 'identity, chunked'],
    ['GET /v1/pets/1 HTTP/1.1', 'gzip, chunked'],
    ['POST /v1/pets HTTP/1.0', 'chunked'],
    ['POST /v1/pets HTTP/2.0', 'chunked'],
  ])('prevents all later requests of its connection: %s, %s', async (requestLine, coding) => {
    const fields = `Host: x\r\n${authorized()}Content-Type: application/json\r\n`;
    const first = `${requestLine}\r\n${fields}Transfer-Encoding: ${coding}\r\n\r\n${CHUNKS}`;
    const create = `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${PET.length}\r\n\r\n${PET}`;
    for (const pieces of [[first + create.repeat(3)], [first, create.repeat(3)]]) {
      const connection = await Connection.open(server.origin);
      for (const piece of pieces) connection.write(piece);
      expect(await connection.rest()).toMatchObject([REFUSED]);
      connection.destroy();
    }
    expect((await server.client.get('/v1/pets')).body).toBe('[]');
  });

  test.each(['chunked', 'Chunked', 'CHUNKED', ' chunked  '])(
    'is not a request with the coding chunked: %j',
    async (coding) => {
      const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${authorized()}Content-Type: text/plain\r\n`;
      const answer = await sendRaw(server.origin, `${head}Transfer-Encoding: ${coding}\r\n\r\n${CHUNKS}`);
      expect(answer.status).toBe(415);
    },
  );

  test.each(['/livez', '/v1/pets'])('of HTTP/1.0 must not be chunked: %s', async (target) => {
    const head = `POST ${target} HTTP/1.0\r\nHost: x\r\n${authorized()}Connection: keep-alive\r\n`;
    const fields = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    const answers = await responsesTo(`${head}${fields}\r\n${CHUNKS}`);
    expect(answers).toMatchObject([REFUSED]);
    expect(answers.map(codeOf)).toEqual(['invalid_request']);
    expect((await server.client.get('/v1/pets')).body).toBe('[]');
  });

  describe('of a version that is not supported', () => {
    const VERSIONS = [' HTTP/0.9', ' HTTP/2.0', ''];

    test.each(VERSIONS)('gets a 400 with the supported versions:%s', async (version) => {
      for (const target of ['/livez', '/docs', '/openapi.json', '/nothing', '/v1/pets', '/v1/nothing']) {
        const answers = await responsesTo(`GET ${target}${version}\r\nHost: x\r\n${authorized()}\r\n`);
        expect(answers, target).toMatchObject([REFUSED]);
        expect(answers.map(codeOf)).toEqual(['invalid_request']);
        expect(answers[0]?.body).toMatch(/HTTP\/1\.0.*HTTP\/1\.1/);
      }
    });

    test.each(VERSIONS)('gets a 401 without a key:%s', async (version) => {
      const answers = await responsesTo(`GET /v1/pets${version}\r\nHost: x\r\n\r\n`);
      expect(answers).toMatchObject([{ status: 401, headers: { connection: 'close' } }]);
    });

    test.each(['1.2', '1.10', '01.1', '2.1', '3.0', '9.9', '11.1', '2', '1.', '-1.1'])(
      'is not HTTP: HTTP/%s',
      async (version) => {
        const answers = await responsesTo(`GET /livez HTTP/${version}\r\nHost: x\r\n\r\n`);
        expect(answers).toMatchObject([REFUSED]);
        expect(answers.map(codeOf)).toEqual(['invalid_request']);
      },
    );
  });

  describe('with an invalid Host', () => {
    test.each([
      'me@x',
      'me:hunter2@x',
      'x:0',
      'x:000',
      'x:65536',
      'x:99999',
      'x:123456789012345678901',
      'x:port',
      'x:-1',
      'x:+1',
      'x:1:2',
      'http://x',
      'x/y',
      'x?y',
      'x#y',
      'x y',
      'x,y',
      'x, y',
      'x\ty',
      'x\\y',
      '"x"',
      '<script>',
      'x%41',
      '\u00e4',
      '::1',
      '[::1',
      '[]',
      '[x]',
      '[::1]x',
      '[::1]:0',
      'x'.repeat(256),
    ])('is refused: %j', async (host) => {
      for (const target of ['/livez', '/openapi.json', '/v1/pets', 'http://x/livez']) {
        const message = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${authorized()}\r\n`;
        const answer = await sendRaw(server.origin, Buffer.from(message, 'latin1'));
        expect(answer.status, target).toBe(400);
        expect(codeOf(answer)).toBe('invalid_request');
        expect(answer.body).toContain('Host');
        expect(answer.body).not.toContain('hunter2');
      }
    });

    test.each([
      '',
      'x',
      'X.example.',
      'a_b-c',
      'x:',
      'x:1',
      'x:65535',
      'x:0080',
      '127.0.0.1:3000',
      '[::1]:3000',
    ])('is accepted if the Host is valid: %j', async (host) => {
      for (const version of ['1.0', '1.1']) {
        const head = `GET /v1/pets HTTP/${version}\r\nHost: ${host}\r\n`;
        expect((await sendRaw(server.origin, `${head}${authorized()}\r\n`)).status).toBe(200);
      }
    });
  });

  describe('whose target is neither a path nor an HTTP URL', () => {
    test.each([
      'http://me@x/livez',
      'http://me:hunter2@x/livez',
      'https://me:hunter2@x/v1/pets',
      'http://@x/livez',
      'http://x@y@z/livez',
      'http://me:hunter2@x',
      'http://x:0/livez',
      'http://x:99999/livez',
      'http://x:/me@y',
      'http:///livez',
      'http://?livez',
      'http://[::1/livez',
      'http://[x]/livez',
      'http://%zz/livez',
      'http://x%2fy/livez',
      'ftp://x/livez',
      'ws://x/livez',
      'file:///livez',
      'javascript://x/livez',
      '*x',
      '/livez#x',
      '/livez?x#y',
      '/v1/pets#x',
      '/#',
    ])('gets a 4xx: %s', async (target) => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await sendRaw(
          server.origin,
          `${method} ${target} HTTP/1.1\r\nHost: x\r\n${authorized()}\r\n`,
        );
        expect(answer.status, method).toBe(target === 'http://x:/me@y' ? 404 : 400);
        expect(answer.body).not.toContain('hunter2');
      }
    });

    test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'PATCH'])(
      '%s * gets a 4xx',
      async (method) => {
        const answer = await sendRaw(server.origin, `${method} * HTTP/1.1\r\nHost: x\r\n\r\n`);
        expect(answer.status).toBe(404);
      },
    );

    test.each([
      '/livez',
      '/livez?',
      '/livez?me@x',
      'http://x/livez',
      'HTTPS://X:1/livez?a',
      'http://[::1]:1/livez',
    ])('is accepted if the target is valid: %s', async (target) => {
      expect((await sendRaw(server.origin, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).status).toBe(200);
    });
  });

  const POST = 'POST /v1/nothing HTTP/1.1\r\nHost: x\r\n';
  const GET = 'GET /livez HTTP/1.1\r\n';

  test.each([
    ['Content-Length: +5', `${POST}Content-Length: +5\r\n\r\nhello`],
    ['Content-Length: 0x5', `${POST}Content-Length: 0x5\r\n\r\nhello`],
    ['Content-Length: 5.0', `${POST}Content-Length: 5.0\r\n\r\nhello`],
    ['Content-Length: 5 5', `${POST}Content-Length: 5 5\r\n\r\nhello`],
    ['Content-Length: 5, 5', `${POST}Content-Length: 5, 5\r\n\r\nhello`],
    ['an empty Content-Length', `${POST}Content-Length: \r\n\r\n`],
    ['Content-Length twice, the same', `${POST}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
    [
      'Content-Length before gzip, chunked',
      `${POST}Content-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`,
    ],
    [
      'Content-Length after gzip, chunked',
      `${POST}Transfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n\r\n${CHUNKS}`,
    ],
    ['a folded field', `${GET}Host: x\r\nX-Request-Id: a\r\n b\r\n\r\n`],
    ['a folded Host', `${GET}Host: x\r\n\ty\r\n\r\n`],
    ['a folded first field', `${GET} Host: x\r\n\r\n`],
    ['a folded Content-Length', `${POST}Content-Length:\r\n 0\r\n\r\n`],
    ['a folded Transfer-Encoding', `${POST}Transfer-Encoding: gzip,\r\n chunked\r\n\r\n${CHUNKS}`],
    ['a tab before the colon', `${GET}Host: x\r\nX\t: 1\r\n\r\n`],
    ['a space before the colon of Content-Length', `${POST}Content-Length : 5\r\n\r\nhello`],
    ['a field without a name', `${GET}Host: x\r\n: 1\r\n\r\n`],
    ['bare LF at every line', 'GET /livez HTTP/1.1\nHost: x\n\n'],
    ['bare LF after a field', `${GET}Host: x\nX: 1\r\n\r\n`],
    ['bare LF at the end of the head', `${GET}Host: x\r\n\n`],
    ['bare CR in a value', `${GET}Host: x\r\nX: a\rb\r\n\r\n`],
    ['bare CR after a value', `${GET}Host: x\r\r\n\r\n`],
    ['bare CR in the request line', 'GET /livez\rHTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a control character in a value', `${GET}Host: x\r\nX: a\u0001b\r\n\r\n`],
    ['tabs in the request line', 'GET\t/livez\tHTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space after the version', 'GET /livez HTTP/1.1 \r\nHost: x\r\n\r\n'],
    ['a target beyond ASCII', 'GET /\u00e4 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a URL without an authority', 'GET mailto:me@x HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('is refused, and the connection is closed: %s', async (_case, message) => {
    const answers = await responsesTo(message);
    expect(answers).toMatchObject([REFUSED]);
    expect(answers.map(codeOf)).toEqual(['invalid_request']);
  });

  test('does not affect later requests', async () => {
    expect((await server.client.get('/livez')).status).toBe(200);
    expect(server.errors).toEqual([]);
  });
});
