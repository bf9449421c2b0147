import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Connection } from '../../support/connection.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';

const LIMIT = 64 * 1024;
const REX = '{"name":"Rex","categoryId":1}';

describe.each(STORAGES)('a body, on %s', (storage) => {
  const server = sharedServer(storage);
  const head = (...fields: string[]) =>
    [
      'POST /v1/pets HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${server.key}`,
      'Content-Type: application/json',
      ...fields,
      '\r\n',
    ].join('\r\n');

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json ; charset="UTF-8"; x=y',
    'application/json; profile="a;b"',
    'application/json;',
  ])('may have the media type %s', async (type) => {
    expect((await server.client.post(REX, { 'Content-Type': type })).status).toBe(201);
  });

  test.each([
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=us-ascii',
    'application/json; charset=utf8mb4',
    'text/plain',
    'text/json',
    'text/plain; application/json',
    'application/xml',
    'application/jsonx',
    'application/x-json',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    '*/*',
    'application/*',
    'application/json, text/plain',
    '/',
    '',
  ])('may not have the media type %s', async (type) => {
    const answer = await server.client.post(REX, { 'Content-Type': type });
    expect(answer).toMatchObject({ status: 415, headers: { accept: 'application/json' } });
  });

  test('must have a media type', async () => {
    const answer = await server.client.request('POST', '/v1/pets', { body: REX });
    expect(answer).toMatchObject({ status: 415, headers: { accept: 'application/json' } });
    expect((await server.client.request('POST', '/v1/pets')).status).toBe(415);
  });

  test.each(['gzip', 'deflate', 'br', 'zstd', 'identity', 'x', ''])(
    'may not have a content coding: %s',
    async (encoding) => {
      const body = encoding === 'gzip' ? gzipSync(REX) : Buffer.from(REX);
      const answer = await server.client.post(body, { 'Content-Encoding': encoding });
      expect(answer).toMatchObject({ status: 415, headers: { accept: 'application/json' } });
    },
  );

  test.each([
    ['an overlong encoding', [0xc0, 0xaf]],
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['a lone continuation byte', [0x80]],
    ['an incomplete character', [0xf0, 0x9f, 0x90]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['latin1', [0xe4]],
  ])('must be UTF-8: %s', async (_case, bytes) => {
    const body = Buffer.concat([
      Buffer.from('{"categoryId":1,"name":"'),
      Buffer.from(bytes),
      Buffer.from('"}'),
    ]);
    const answer = await server.client.post(body);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('not valid JSON in UTF-8') });
  });

  test.each([
    ['UTF-16', Buffer.from(REX, 'utf16le')],
    ['bytes of no encoding', Buffer.from([0, 255, 254, 1])],
    ['a zero byte', Buffer.alloc(1)],
  ])('must be JSON in UTF-8, not %s', async (_case, body) => {
    expect((await server.client.post(body)).status).toBe(400);
  });

  test('may begin with a byte order mark and with white space', async () => {
    expect((await server.client.post(`\ufeff${REX}`)).status).toBe(201);
    expect((await server.client.post(` \t\r\n${REX}\n `)).status).toBe(201);
  });

  test.each([
    '{',
    '}',
    '{"name":',
    "{'name':'Rex'}",
    `${REX},`,
    `${REX}${REX}`,
    `${REX}//`,
    '{name:1}',
    'undefined',
  ])('must be JSON: %s', async (body) => {
    const answer = await server.client.post(body);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('not valid JSON') });
    expect(answer.body).not.toMatch(/position|Unexpected|line \d/);
  });

  test('is required', async () => {
    expect(await server.client.post('')).toMatchObject({
      status: 400,
      body: expect.stringContaining('the body is missing'),
    });
    for (const framing of [['Content-Length: 0'], [], ['Transfer-Encoding: chunked']]) {
      const connection = await Connection.open(server.origin);
      connection.write(head(...framing));
      if (framing[0]?.startsWith('Transfer')) connection.write('0\r\n\r\n');
      expect((await connection.next()).status).toBe(400);
      connection.destroy();
    }
  });

  test('may arrive with the head, later, or in parts, also when the next request arrives at the same time', async () => {
    const message = head(`Content-Length: ${REX.length}`) + REX;
    const at = message.length - REX.length;
    const partitions = [[], [at], [at + 1], [at, at + 10], [at + 20], [message.length - 1], [message.length]];
    const connection = await Connection.open(server.origin);
    for (const ends of partitions) {
      const twice = message + message;
      for (const [index, end] of [...ends, twice.length].entries()) {
        connection.write(twice.slice(ends[index - 1] ?? 0, end));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      for (let count = 0; count < 2; count++) {
        expect(await connection.next()).toMatchObject({
          status: 201,
          body: expect.stringContaining('"name":"Rex"'),
        });
      }
    }
    connection.destroy();
  });

  test('may have at most 64 KiB, with Content-Length or in chunks', async () => {
    for (const [size, status] of [
      [LIMIT, 201],
      [LIMIT + 1, 413],
    ] as const) {
      const body = REX.padEnd(size);
      expect((await server.client.post(body)).status).toBe(status);
      const connection = await Connection.open(server.origin);
      connection.write(head('Transfer-Encoding: chunked'));
      for (const part of [body.slice(0, 30_000), body.slice(30_000)]) {
        connection.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      }
      connection.write('0\r\n\r\n');
      expect((await connection.next()).status).toBe(status);
      connection.destroy();
    }
  });

  test.each([2, 30])(
    'of %s MB gets a 413 that reaches a client that sends everything before it reads',
    async (megabytes) => {
      const size = megabytes * 1_000_000;
      for (const field of [`Content-Length: ${size}`, 'Transfer-Encoding: chunked']) {
        const connection = await Connection.open(server.origin);
        connection.socket.pause();
        connection.write(head(field));
        if (field.startsWith('Transfer')) connection.write(`${size.toString(16)}\r\n`);
        await new Promise<void>((resolve, reject) => {
          connection.socket.write(Buffer.alloc(size, ' '), (error) => (error ? reject(error) : resolve()));
        });
        connection.socket.resume();
        expect(await connection.next()).toMatchObject({ status: 413, headers: { connection: 'close' } });
        connection.destroy();
      }
    },
  );

  test.each([
    [401, 'application/json', null],
    [415, 'text/plain', undefined],
    [413, 'application/json', undefined],
  ])(
    'of 30 MB gets a %s that reaches an ordinary client, although the body is not read',
    async (status, type, key) => {
      const answer = await server.client.request('POST', '/v1/pets', {
        headers: { 'Content-Type': type },
        body: Buffer.alloc(30_000_000, ' '),
        ...(key === undefined ? {} : { key }),
      });
      expect(answer.status).toBe(status);
    },
  );

  test.each([
    ['arrays', '['.repeat(LIMIT)],
    ['closed arrays', '['.repeat(LIMIT / 2) + ']'.repeat(LIMIT / 2)],
    ['objects', '{"a":'.repeat(LIMIT / 5)],
    ['arrays after many digits', `[1234567890123456789,${'['.repeat(LIMIT - 21)}`],
    ['closed arrays around many digits', `${'['.repeat(32_000)}1234567890123456789${']'.repeat(32_000)}`],
    ['closed objects around an exponent', `${'{"a":'.repeat(10_000)}1e5${'}'.repeat(10_000)}`],
    ['a number of 64 KiB', '9'.repeat(LIMIT)],
    ['a fraction of 64 KiB', `{"name":"Rex","categoryId":0.${'0'.repeat(LIMIT - 40)}1}`],
    ['quotes', '"'.repeat(LIMIT)],
    ['backslashes', `"${'\\'.repeat(LIMIT - 2)}"`],
  ])('of any depth and length does not break the server: %s are 400', async (_case, body) => {
    expect(body.length).toBeLessThanOrEqual(LIMIT);
    expect((await server.client.post(body)).status).toBe(400);
  });

  test('may have a deep tree in an ignored member, with a maximum depth that does not depend on its numbers', async () => {
    const treeOf = (depth: number, leaf: string) => `${'['.repeat(depth)}${leaf}${']'.repeat(depth)}`;
    const create = (tree: string) => server.client.post(`{"name":"Rex","x":${tree},"categoryId":1}`);
    for (const leaf of ['', '7', '9007199254740993']) {
      expect((await create(treeOf(499, leaf))).status).toBe(201);
      for (const depth of [500, 30_000]) {
        expect(await create(treeOf(depth, leaf))).toMatchObject({
          status: 400,
          body: expect.stringContaining('the body is nested too deeply'),
        });
      }
    }
  });

  test('that is incomplete stores nothing, and does not affect other requests', async () => {
    const before = (await server.client.get('/v1/pets?limit=100')).body;
    for (const field of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
      for (const leave of ['end', 'resetAndDestroy', 'destroy'] as const) {
        const connection = await Connection.open(server.origin);
        connection.write(head(field) + (field.startsWith('C') ? REX : `3e8\r\n${REX}`));
        await server.client.get('/livez');
        connection.socket[leave]();
        await connection.closed;
      }
    }
    expect((await server.client.get('/v1/pets?limit=100')).body).toBe(before);
    expect(server.errors).toEqual([]);
  });

  test('that is incomplete is 400 if the client still reads', async () => {
    const connection = await Connection.open(server.origin);
    connection.write(head('Content-Length: 1000') + REX);
    await server.client.get('/livez');
    connection.socket.end();
    const answers = await connection.rest();
    expect(answers.map(({ status }) => status)).toEqual([400]);
  });
});
