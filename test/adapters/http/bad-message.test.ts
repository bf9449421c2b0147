/** Messages that Node.js does not parse. Each gets an error response, and the connection is closed. */

import type { ServerResponse } from 'node:http';
import { BlockList } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApi } from '../../../src/adapters/http/api/app.ts';
import { KOA_CARRIER } from '../../../src/adapters/http/koa/carrier.ts';
import { createNodeServer } from '../../../src/adapters/http/node/server.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import type { RequestOutcome } from '../../../src/application/ports/observer.ts';
import { cannotExpress } from '../../support/carrier.ts';
import { Connection, sendLast, sendRaw } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { pipelineOf } from '../../support/pipeline.ts';
import { sharedServer, startServer, type TestServer } from '../../support/server.ts';
import { REX } from './paths.ts';

const CHUNKS = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
const LAST = { connection: 'close' };

const server = sharedServer('memory');
const headOf = (requestLine: string, { key }: TestServer = server) =>
  `${requestLine} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;

/** Expects that a message gets a 400 and nothing else. Returns the message of the error. */
async function refusalOf(message: string | Uint8Array): Promise<string> {
  const answers = await sendLast(server.origin, message);
  expect(answers).toMatchObject([{ status: 400, headers: LAST }]);
  const { code, message: text } = JSON.parse(answers[0]?.body ?? '');
  expect(code).toBe('invalid_request');
  return text;
}

/** Connects to a server that sends no response by itself. */
async function openUnanswered(): Promise<{ responses: ServerResponse[]; connection: Connection }> {
  const responses: ServerResponse[] = [];
  const api = createApi(new AnimalStore(openMemoryStorage()), {}, KOA_CARRIER);
  const server = createNodeServer(async (_req, res) => void responses.push(res), api, {});
  onTestFinished(() => server.stop(0));
  const connection = await Connection.open(await server.listen(0, '127.0.0.1'));
  return { responses, connection };
}

describe('a message that Node.js does not parse', () => {
  const GET = 'GET /livez HTTP/1.1\r\n';
  const POST = 'POST /v1/nothing HTTP/1.1\r\nHost: x\r\n';

  test.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['a TLS hello', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method in lower case', 'get /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target with a space', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target without a slash', 'GET livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target beyond ASCII', 'GET /\u00e4 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['tabs in the request line', 'GET\t/livez\tHTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space after the version', 'GET /livez HTTP/1.1 \r\nHost: x\r\n\r\n'],
    ['another protocol', 'GET /livez FTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header line without a colon', `${GET}Host: x\r\nnonsense\r\n\r\n`],
    ['a header name with a space', `${GET}Host: x\r\nX Y: z\r\n\r\n`],
    ['a space before the colon', `${POST}Content-Length : 5\r\n\r\nhello`],
    ['a field without a name', `${GET}Host: x\r\n: 1\r\n\r\n`],
    ['a zero byte in a value', `${GET}Host: x\r\nX: a\0b\r\n\r\n`],
    ['a folded field', `${GET}Host: x\r\nX-Request-Id: a\r\n b\r\n\r\n`],
    ['a folded first field', `${GET} Host: x\r\n\r\n`],
    ['a folded Transfer-Encoding', `${POST}Transfer-Encoding: gzip,\r\n chunked\r\n\r\n${CHUNKS}`],
    ['bare LF at every line', 'GET /livez HTTP/1.1\nHost: x\n\n'],
    ['bare LF after a field', `${GET}Host: x\nX: 1\r\n\r\n`],
    ['bare LF at the end of the head', `${GET}Host: x\r\n\n`],
    ['bare CR in a value', `${GET}Host: x\r\nX: a\rb\r\n\r\n`],
    ['Content-Length: +5', `${POST}Content-Length: +5\r\n\r\nhello`],
    ['Content-Length: 0x5', `${POST}Content-Length: 0x5\r\n\r\nhello`],
    ['Content-Length: -5', `${POST}Content-Length: -5\r\n\r\nhello`],
    ['Content-Length: 5, 5', `${POST}Content-Length: 5, 5\r\n\r\nhello`],
    ['an empty Content-Length', `${POST}Content-Length: \r\n\r\n`],
    ['a Content-Length that is too large', `${POST}Content-Length: 99999999999999999999999\r\n\r\n`],
    ['Content-Length twice, the same', `${POST}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
    [
      'Content-Length before chunked',
      `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    ],
    [
      'Content-Length after gzip',
      `${POST}Transfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n\r\n${CHUNKS}`,
    ],
    ['chunked before identity', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKS}`],
  ] as [string, string | Uint8Array][])('is refused: %s', async (_case, message) => {
    const isUnparsed = /is not valid HTTP|Transfer-Encoding must be chunked|the body ended early/;
    expect(await refusalOf(message)).toMatch(isUnparsed);
  });

  test('is refused if a chunk is invalid, or the version', async () => {
    for (const chunks of ['zzz\r\nhello\r\n', '-1\r\n', '5\r\nhello_no_end\r\n', '\r\n']) {
      await refusalOf(`${headOf('POST /v1/pets')}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
    }
    for (const version of ['1.2', '1.10', '01.1', '3.7', '9.9', '2', '1.', '-1.1']) {
      await refusalOf(`GET /livez HTTP/${version}\r\nHost: x\r\n\r\n`);
    }
  });

  test('a head of more than 16 KiB is 431, with one large field, many fields or a long target', async () => {
    const tooLarge = { status: 431, headers: LAST };
    const send = (fields: string) => sendRaw(server.origin, `${GET}Host: x\r\n${fields}\r\n`);
    expect((await send(`X: ${'x'.repeat(15_000)}\r\n`)).status).toBe(200);
    expect(await send(`X: ${'x'.repeat(17_000)}\r\n`)).toMatchObject(tooLarge);
    expect(await send('X-Some-Field: x\r\n'.repeat(2_000))).toMatchObject(tooLarge);
    const target = `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await sendRaw(server.origin, target)).toMatchObject(tooLarge);
  });

  test.each([
    ['garbage', 400],
    [`${GET}Host: x\r\nX: `, 431],
  ])('gets a response, also if the client sends everything before it reads: %j', async (start, status) => {
    const connection = await Connection.open(server.origin);
    connection.socket.pause();
    connection.write(start);
    await new Promise<void>((resolve, reject) => {
      connection.socket.write(Buffer.alloc(10_000_000, 'x'), (error) => (error ? reject(error) : resolve()));
    });
    connection.socket.resume();
    expect(await connection.next()).toMatchObject({ status, headers: LAST });
    await connection.closed;
  });

  test('gets its response after those to earlier requests', async () => {
    const good = `${headOf('GET /v1/pets')}\r\n`;
    const create = `${headOf('POST /v1/pets')}Content-Length: ${REX.length}\r\n\r\n${REX}`;
    for (const [message, endsThere, statuses] of [
      [`${good}${good}\r\ngarbage\r\n\r\n`, false, [200, 200, 400]],
      [`${create}${create}${headOf('POST /v1/pets')}Content-Length: 100\r\n\r\n{`, true, [201, 201, 400]],
      [`${create}${headOf('POST /v1/pets')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, false, [201, 400]],
      [
        `${create}${good}${create}GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        false,
        [201, 200, 201, 404],
      ],
    ] as const) {
      const connection = await Connection.open(server.origin);
      connection.write(message);
      if (endsThere) connection.socket.end();
      expect((await connection.rest()).map(({ status }) => status)).toEqual(statuses);
    }
  });

  test.skipIf(cannotExpress('the method TRACE'))(
    'TRACE is refused, and its fields are not returned',
    async () => {
      const trace = await sendRaw(server.origin, 'TRACE /livez HTTP/1.1\r\nHost: secret\r\n\r\n');
      expect(trace.status).toBe(405);
      expect(trace.body).not.toContain('secret');
    },
  );

  test('CONNECT is refused, and an upgrade is ignored', async () => {
    for (const target of ['example.org:443', '/v1/pets', '*']) {
      const [answer] = await sendLast(server.origin, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST, OPTIONS', ...LAST } });
      expect(JSON.parse(answer?.body ?? '').message).toMatch(/^CONNECT is not allowed here/);
    }
    for (const upgrade of ['Upgrade\r\nUpgrade: websocket', 'Upgrade, HTTP2-Settings\r\nUpgrade: h2c']) {
      const message = `${GET}Host: x\r\nConnection: ${upgrade}\r\n\r\n`;
      expect((await sendRaw(server.origin, message)).status).toBe(200);
    }
  });

  test('gets a response when more bytes wait', async () => {
    const garbage = `garbage\r\n\r\n${'x'.repeat(10_000)}`;
    expect(await sendLast(server.origin, garbage)).toMatchObject([{ status: 400 }]);
  });

  test('gets a response when it is the body of the last request, and none behind this request', async () => {
    const outcomes: RequestOutcome[] = [];
    const { origin, key } = await startServer('memory', {
      observers: [{ onRequest: (it) => outcomes.push(it) }],
    });
    const close = `Authorization: Bearer ${key}\r\nConnection: close\r\n`;
    const broken = `${close}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    for (const [message, status] of [
      [`POST /v1/pets HTTP/1.1\r\nHost: x\r\n${broken}`, 400],
      [`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${close}\r\ngarbage`, 200],
    ] as const) {
      expect(await sendLast(origin, message)).toMatchObject([{ status }]);
      expect(outcomes.splice(0).filter(({ aborted }) => !aborted)).toMatchObject([{ status }]);
    }
  });

  test('is reported with the address of its client behind a proxy', async () => {
    const trustedProxies = new BlockList();
    trustedProxies.addAddress('127.0.0.1');
    const addresses: unknown[] = [];
    const observers = [{ onRequest: ({ address }: RequestOutcome) => addresses.push(address) }];
    const { origin, key } = await startServer('memory', { trustedProxies, observers });
    const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nX-Forwarded-For: 192.0.2.1\r\n`;
    await sendLast(origin, `CONNECT x:80 HTTP/1.1\r\n${fields}\r\n`);
    expect(addresses).toEqual(['192.0.2.1']);
    const json = 'Content-Type: application/json\r\n';
    await sendLast(
      origin,
      `POST /v1/pets HTTP/1.1\r\n${fields}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    );
    expect(addresses[1]).toBe('192.0.2.1');
  });

  test('gets no second response if its key was refused while an earlier request was handled', async () => {
    const { wrap, open } = gate();
    const { promise: refused, resolve } = Promise.withResolvers<number>();
    const observers = [{ onRequest: ({ status }: RequestOutcome) => resolve(status) }];
    const { origin, key } = await startServer('memory', { wrap, observers });
    const connection = await Connection.open(origin);
    const fields = 'Host: x\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\n';
    const broken = `POST /v1/pets HTTP/1.1\r\n${fields}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
    connection.write(pipelineOf(key).create('Rex') + broken);
    expect(await refused).toBe(401);
    open();
    expect(await connection.rest()).toMatchObject([{ status: 201 }, { status: 401, headers: LAST }]);
  });

  test('does not end the responses before it when the response to its request has begun', async () => {
    const { responses, connection } = await openUnanswered();
    let received = '';
    connection.socket.on('data', (chunk) => {
      received += chunk;
    });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    connection.socket.write(`${GET}Host: x\r\n\r\n${head}`);
    await expect.poll(() => responses.length).toBe(2);
    const [first, second] = responses as [ServerResponse, ServerResponse];
    second.writeHead(401).end();
    const { socket } = first;
    const expected = (socket?.bytesRead ?? 0) + 'zz\r\n'.length;
    connection.socket.write('zz\r\n');
    await expect.poll(() => socket?.bytesRead).toBe(expected);
    first.end();
    await connection.closed;
    expect(received.match(/^HTTP\/1.1 .*/gm)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 401 Unauthorized']);
  });

  test('waits once for earlier responses, however much garbage follows', async () => {
    const { responses, connection } = await openUnanswered();
    connection.write(`${GET}Host: x\r\n\r\n`);
    await expect.poll(() => responses.length).toBe(1);
    const [res] = responses as [ServerResponse];
    const waiting = () => res.listenerCount('finish');
    const before = waiting();
    for (let count = 0; count < 3; count += 1) {
      const expected = (res.socket?.bytesRead ?? 0) + 'garbage\r\n\r\n'.length;
      connection.socket.write('garbage\r\n\r\n');
      await expect.poll(() => [res.socket?.bytesRead, waiting()]).toEqual([expected, before + 1]);
    }
    connection.destroy();
  });

  test('is reported to the observer once, with the request id of the response', async () => {
    const outcomes: RequestOutcome[] = [];
    const { origin } = await startServer('memory', { observers: [{ onRequest: (it) => outcomes.push(it) }] });
    for (const message of ['garbage\r\n\r\n', `${GET}X: ${'x'.repeat(17_000)}\r\n\r\n`]) {
      const { status, headers } = await sendRaw(origin, message);
      const requestId = headers['x-request-id'];
      expect(outcomes.splice(0)).toMatchObject([{ method: '', route: undefined, status, requestId }]);
    }
  });
});
