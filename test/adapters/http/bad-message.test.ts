import { describe, expect, test } from 'vitest';
import type { RequestOutcome } from '../../../src/application/ports/observer.ts';
import { Connection, sendRaw } from '../../support/connection.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const GET = 'GET /livez HTTP/1.1\r\n';
const POST = 'POST /livez HTTP/1.1\r\nHost: x\r\n';

describe.each(STORAGES)('a message that is not HTTP, on %s', (storage) => {
  const server = sharedServer(storage);
  const authorized = () => `Authorization: Bearer ${server.key}\r\n`;

  test.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['bytes', Buffer.from([0, 1, 2, 255, 13, 10, 13, 10])],
    ['a TLS hello', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method in lower case', 'get /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no target', 'GET HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target with a space', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target without a slash', 'GET livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HTTP/3.7', 'GET /livez HTTP/3.7\r\nHost: x\r\n\r\n'],
    ['no version', 'GET /livez FTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header line without a colon', `${GET}Host: x\r\nnonsense\r\n\r\n`],
    ['a header name with a space', `${GET}Host: x\r\nX Y: z\r\n\r\n`],
    ['a space before the colon', `${GET}Host : x\r\n\r\n`],
    ['a zero byte in a header', `${GET}Host: x\r\nX: a\0b\r\n\r\n`],
    [
      'Content-Length with Transfer-Encoding',
      `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two Content-Lengths', `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
    ['a Content-Length that is not a number', `${POST}Content-Length: five\r\n\r\nhello`],
    ['a negative Content-Length', `${POST}Content-Length: -5\r\n\r\nhello`],
    ['a Content-Length that is too large', `${POST}Content-Length: 99999999999999999999999\r\n\r\n`],
    ['a Transfer-Encoding that does not end in chunked', `${POST}Transfer-Encoding: gzip\r\n\r\nhello`],
    ['chunked before identity', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ])('gets a 400, and the connection is closed: %s', async (_case, message) => {
    const connection = await Connection.open(server.origin);
    connection.write(message);
    const answers = await connection.rest();
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatchObject({ status: 400, headers: { connection: 'close' } });
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ code: 'invalid_request' });
  });

  test.each(['zzz\r\nhello\r\n', '-1\r\n', '5\r\nhello_no_end\r\n', '\r\n'])(
    'with invalid chunks gets a 400: %j',
    async (chunks) => {
      const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${authorized()}Content-Type: application/json\r\n`;
      const connection = await Connection.open(server.origin);
      connection.write(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
      const answers = await connection.rest();
      expect(answers).toMatchObject([{ status: 400, headers: { connection: 'close' } }]);
    },
  );

  test('must have one Host in HTTP/1.1, and at most one in HTTP/1.0', async () => {
    const status = async (line: string, hosts: string) =>
      (await sendRaw(server.origin, `GET ${line}\r\n${hosts}${authorized()}\r\n`)).status;
    for (const target of ['/livez', '/v1/pets', '/nothing']) {
      expect(await status(`${target} HTTP/1.1`, '')).toBe(400);
      expect(await status(`${target} HTTP/1.1`, 'Host: x\r\nHost: x\r\n')).toBe(400);
      expect(await status(`${target} HTTP/1.1`, 'Host: x\r\nhost: y\r\n')).toBe(400);
      expect(await status(`${target} HTTP/1.0`, 'Host: x\r\nHost: x\r\n')).toBe(400);
    }
    expect(await status('/livez HTTP/1.0', '')).toBe(200);
    expect(await status('/v1/pets HTTP/1.0', '')).toBe(200);
    expect(await status('/livez HTTP/1.1', 'Host: \r\n')).toBe(200);
  });

  test('a head of more than 16 KiB is 431, with one large field or with many fields', async () => {
    const send = (fields: string) => sendRaw(server.origin, `${GET}Host: x\r\n${fields}\r\n`);
    expect((await send(`X: ${'x'.repeat(15_000)}\r\n`)).status).toBe(200);
    const tooLarge = { status: 431, headers: { connection: 'close' } };
    expect(await send(`X: ${'x'.repeat(17_000)}\r\n`)).toMatchObject(tooLarge);
    expect(await send('X-Some-Field: x\r\n'.repeat(2_000))).toMatchObject(tooLarge);
    expect(await send(`X: ${'x'.repeat(1_000_000)}\r\n`)).toMatchObject(tooLarge);
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
    expect(await connection.next()).toMatchObject({ status, headers: { connection: 'close' } });
    await connection.closed;
  });

  test('TRACE and CONNECT are refused, and an upgrade is ignored', async () => {
    const trace = await sendRaw(server.origin, 'TRACE /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(trace).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
    expect(trace.body).not.toContain('Host');
    for (const target of ['example.org:443', '/v1/pets', '*']) {
      const connection = await Connection.open(server.origin);
      connection.write(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await connection.rest()).toMatchObject([
        { status: 405, headers: { allow: 'GET, HEAD, POST, OPTIONS', connection: 'close' } },
      ]);
    }
    const upgrade = `${GET}Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expect((await sendRaw(server.origin, upgrade)).status).toBe(200);
    const h2c = `${GET}Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n`;
    expect((await sendRaw(server.origin, h2c)).status).toBe(200);
  });

  test('after valid requests does not prevent their responses', async () => {
    const good = `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${authorized()}\r\n`;
    const connection = await Connection.open(server.origin);
    connection.write(`${good}${good}garbage\r\n\r\n`);
    const statuses = (await connection.rest()).map(({ status }) => status);
    expect(statuses.at(-1)).toBe(400);
    expect(statuses.slice(0, -1)).toEqual([200, 200]);
  });

  test.each([
    ['an incomplete body', 'Content-Length: 100\r\n\r\n{"name"', true],
    ['an invalid chunk', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n', false],
  ])('after creates in flight gets its response after theirs: %s', async (_case, start, endsThere) => {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${authorized()}Content-Type: application/json\r\n`;
    const create = `${head}Content-Length: 29\r\n\r\n{"name":"Rex","categoryId":1}`;
    const connection = await Connection.open(server.origin);
    connection.write(create + create + head + start);
    if (endsThere) connection.socket.end();
    expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 201, 400]);
  });

  test('valid requests in one write get their responses in order', async () => {
    const connection = await Connection.open(server.origin);
    const post = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${authorized()}Content-Type: application/json\r\n`;
    const create = `${post}Content-Length: 29\r\n\r\n{"name":"Rex","categoryId":1}`;
    const close = `GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    connection.write(`${create}${GET}Host: x\r\n\r\n${create}\r\n${close}`);
    expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 200, 201, 404]);
  });

  test('is reported to the observer once, with the request id of the response', async () => {
    const outcomes: RequestOutcome[] = [];
    const { origin } = await startServer(storage, { observers: [{ onRequest: (it) => outcomes.push(it) }] });
    for (const message of ['garbage\r\n\r\n', `${GET}X: ${'x'.repeat(17_000)}\r\n\r\n`]) {
      const connection = await Connection.open(origin);
      connection.write(message);
      const [answer] = await connection.rest();
      expect(outcomes.splice(0)).toEqual([
        {
          method: '',
          route: undefined,
          status: answer?.status,
          ms: 0,
          requestId: answer?.headers['x-request-id'],
          keyId: undefined,
          aborted: undefined,
          traceparent: undefined,
          address: '127.0.0.1',
          path: undefined,
        },
      ]);
    }
  });

  test('does not affect later requests', async () => {
    expect((await server.client.get('/livez')).status).toBe(200);
    expect(server.errors).toEqual([]);
  });
});
