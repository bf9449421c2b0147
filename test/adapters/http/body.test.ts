/** The bytes of a request body: media type, encoding, framing, size and depth. `create.test.ts` tests its members. */

import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Connection, sendRaw } from '../../support/connection.ts';
import { sharedServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

const LIMIT = 64 * 1024;

const server = sharedServer('memory');

function head(fields: Record<string, string | number>): string {
  const all = { Host: 'x', Authorization: `Bearer ${server.key}`, ...JSON_TYPE, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/pets HTTP/1.1\r\n${lines.join('')}\r\n`;
}

async function messageFor(body: string | Uint8Array): Promise<string> {
  const answer = await server.client.post(body);
  expect(answer.status).toBe(400);
  return JSON.parse(answer.body).message;
}

describe('the media type', () => {
  test.each([
    'application/json',
    'Application/JSON;charset=UTF-8',
    'application/json ; charset="UTF-8"; x=y',
    'application/json; profile="a;b"',
    'application/json;',
  ])('may be %s', async (type) => {
    expect((await server.client.post(REX, { 'Content-Type': type })).status).toBe(201);
  });

  test.each([
    'application/json; charset=latin1',
    'application/json; charset=utf8',
    'text/plain; application/json',
    'application/jsonx',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    'application/*',
    'application/json, text/plain',
    '/',
    '',
  ])('may not be %s', async (type) => {
    const { status, headers, body } = await server.client.post(REX, { 'Content-Type': type });
    expect([status, headers['accept']]).toEqual([415, 'application/json']);
    expect(JSON.parse(body).message).toBe(
      'Content-Type must be application/json, without a charset or with charset=utf-8, and Content-Encoding must be absent',
    );
  });

  test('is required, with a body and without', async () => {
    for (const options of [{ body: REX }, {}]) {
      expect((await server.client.request('POST', '/v1/pets', options)).status).toBe(415);
    }
  });

  test('must not have a content coding', async () => {
    for (const coding of ['gzip', 'identity', 'x', '']) {
      const body = coding === 'gzip' ? gzipSync(REX) : REX;
      expect((await server.client.post(body, { 'Content-Encoding': coding })).status).toBe(415);
    }
  });
});

describe('the content', () => {
  test.each([
    ['an overlong encoding', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a lone continuation byte', [0x80]],
    ['an incomplete character', [0xf0, 0x9f, 0x90]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('must be UTF-8: %s', async (_case, bytes) => {
    const name = Buffer.from(bytes).toString('latin1');
    const body = Buffer.from(`{"categoryId":1,"name":"${name}"}`, 'latin1');
    expect(await messageFor(body)).toBe('the body is not valid UTF-8');
  });

  test.each([
    ['{', 'unexpected end'],
    ['{"name":', 'unexpected end'],
    ["{'name':'Rex'}", 'unexpected text at character 2'],
    [`${REX},`, `unexpected text at character ${REX.length + 1}`],
    [`${REX}${REX}`, `unexpected text at character ${REX.length + 1}`],
    [`${REX}//`, `unexpected text at character ${REX.length + 1}`],
    ['{\n  "name": "Rex",\n  categoryId: 1\n}', 'unexpected text at line 3, character 3'],
    ['undefined', 'unexpected text at character 1'],
    ['"'.repeat(LIMIT - 1), 'unexpected text at character 3'],
    [`"${'\\'.repeat(LIMIT - 1)}`, 'unexpected text at character 1'],
    [Buffer.from(REX, 'utf16le').subarray(1), 'unexpected text at character 1'],
    [Buffer.alloc(1), 'unexpected text at character 1'],
  ])('must be JSON, and the message says where it is not: case %#', async (body, fault) => {
    expect(await messageFor(body)).toBe(`the body is not valid JSON: ${fault}`);
  });

  test('may begin with a byte order mark and with white space', async () => {
    for (const body of [`\ufeff${REX}`, ` \t\r\n${REX}\n `]) {
      expect((await server.client.post(body)).status).toBe(201);
    }
  });

  test.each(['{"Content-Length":0}', '{}', '{"Transfer-Encoding":"chunked"}'])(
    'is required: %s',
    async (fields) => {
      const end = fields.includes('chunked') ? '0\r\n\r\n' : '';
      const answer = await sendRaw(server.origin, head(JSON.parse(fields)) + end);
      expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('the body is missing') });
    },
  );

  test('may be nested 500 times, whatever its numbers', async () => {
    const treeOf = (depth: number, leaf: string) => `${'['.repeat(depth)}${leaf}${']'.repeat(depth)}`;
    for (const leaf of ['', '7', '9007199254740993', '1e5']) {
      const create = (depth: number) => server.client.post(`{"x":${treeOf(depth, leaf)},${REX.slice(1)}`);
      expect((await create(499)).status).toBe(201);
      for (const depth of [500, 30_000]) expect((await create(depth)).body).toContain('nested too deeply');
    }
    const objects = `${'{"a":'.repeat(10_000)}1e5${'}'.repeat(10_000)}`;
    expect(await messageFor(objects)).toContain('nested too deeply');
  });

  test('may have numbers of any length', async () => {
    expect(await messageFor('9'.repeat(LIMIT))).toContain('must be a JSON object');
    const fraction = `{"name":"Rex","categoryId":0.${'0'.repeat(LIMIT - 40)}1}`;
    expect(await messageFor(fraction)).toContain('categoryId must be an integer');
  });
});

/** The processor time of a few requests, with their client. */
async function processorTimeOf(body: string): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < 4; count += 1) await server.client.post(body);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

describe('the size', () => {
  test('of 64 KiB costs about the same time, whatever is in the body', async () => {
    const full = (start: string, item: string, end: string) =>
      start + `${item},`.repeat((LIMIT - start.length - end.length) / (item.length + 1)).slice(0, -1) + end;
    const bodies = [
      ...['0', '1e5', '[]', '{}', '""', '{"a":0}'].map((item) =>
        full('{"name":"a","categoryId":1e0,"x":[', item, ']}'),
      ),
      full('{', '"":0', '}'),
      full('{', '"n\\u0061me":0', '}'),
      full('[', '0', ''),
      full('{"categoryId":1,"name":"', '\\u0061', '"}'),
    ];
    // The least of several, because garbage is collected in some. A busy machine slows down all bodies.
    const least = new Map<string, number>();
    const spaces = REX.padEnd(LIMIT);
    for (let round = 0; round < 6; round += 1) {
      for (const body of [spaces, ...bodies]) {
        least.set(body, Math.min(await processorTimeOf(body), least.get(body) ?? Infinity));
      }
    }
    const limit = 8 * (least.get(spaces) ?? 0);
    for (const [body, time] of least) expect(time, body.slice(0, 40)).toBeLessThan(limit);
  });

  test('is at most 64 KiB, with Content-Length or in chunks', async () => {
    for (const [size, status] of [
      [LIMIT, 201],
      [LIMIT + 1, 413],
    ] as const) {
      const body = REX.padEnd(size);
      expect((await server.client.post(body)).status).toBe(status);
      const parts = [body.slice(0, 30_000), body.slice(30_000)];
      const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
      const message = `${head({ 'Transfer-Encoding': 'chunked' })}${chunks}0\r\n\r\n`;
      expect((await sendRaw(server.origin, message)).status).toBe(status);
    }
  });

  test.each([
    ['401', { Authorization: '', 'Content-Length': 10_000_000 }, 401],
    ['415', { 'Content-Type': 'text/plain', 'Content-Length': 10_000_000 }, 415],
    ['413', { 'Content-Length': 10_000_000 }, 413],
    ['413, in a chunk', { 'Transfer-Encoding': 'chunked' }, 413],
  ])(
    'of 10 MB gets a %s that reaches a client which sends everything before it reads',
    async (_case, fields, status) => {
      const connection = await Connection.open(server.origin);
      connection.socket.pause();
      connection.write(head(fields));
      if ('Transfer-Encoding' in fields) connection.write(`${(10_000_000).toString(16)}\r\n`);
      await new Promise<void>((resolve, reject) => {
        connection.socket.write(Buffer.alloc(10_000_000, ' '), (error) =>
          error ? reject(error) : resolve(),
        );
      });
      connection.socket.resume();
      expect((await connection.next()).status).toBe(status);
      connection.destroy();
    },
  );
});

describe('the arrival', () => {
  test('may be with the head, later, or in parts, also together with the next request', async () => {
    const message = head({ 'Content-Length': REX.length }) + REX;
    const at = message.length - REX.length;
    const connection = await Connection.open(server.origin);
    for (const ends of [[], [at], [at + 1], [at, at + 10], [message.length - 1], [message.length]]) {
      for (const [index, end] of [...ends, 2 * message.length].entries()) {
        connection.write((message + message).slice(ends[index - 1] ?? 0, end));
        await server.client.get('/livez');
      }
      for (let count = 0; count < 2; count++) expect((await connection.next()).status).toBe(201);
    }
    connection.destroy();
  });

  test('that ends early stores nothing, is no error of the server, and is 400 if the client still reads', async () => {
    const before = (await server.client.get('/v1/pets?limit=100')).body;
    for (const [fields, start] of [
      [{ 'Content-Length': 1000 }, REX],
      [{ 'Transfer-Encoding': 'chunked' }, `3e8\r\n${REX}`],
    ] as const) {
      for (const leave of ['end', 'resetAndDestroy', 'destroy'] as const) {
        const connection = await Connection.open(server.origin);
        connection.write(head(fields) + start);
        await server.client.get('/livez');
        connection.socket[leave]();
        if (leave === 'end') expect(await connection.rest()).toMatchObject([{ status: 400 }]);
        await connection.closed;
      }
    }
    expect((await server.client.get('/v1/pets?limit=100')).body).toBe(before);
    expect(server.errors).toEqual([]);
  });
});

describe('Expect', () => {
  test.each(['100-continue', '100-Continue'])('%s gets its 100 before the body is sent', async (value) => {
    const connection = await Connection.open(server.origin);
    connection.write(head({ Expect: value, 'Content-Length': REX.length }));
    await once(connection.socket, 'received');
    connection.write(REX);
    expect((await connection.next()).status).toBe(201);
    expect(connection.interim).toEqual([100]);
    connection.write(head({ 'Content-Length': REX.length }) + REX);
    expect((await connection.next()).status).toBe(201);
    connection.destroy();
  });

  test.each([
    ['without a key', 401, { Authorization: '' }],
    ['with another media type', 415, { 'Content-Type': 'text/plain' }],
    ['with a length over the limit', 413, { 'Content-Length': LIMIT + 1 }],
  ])('is refused without a 100 if the head is invalid: %s', async (_case, status, fields) => {
    const connection = await Connection.open(server.origin);
    connection.write(head({ Expect: '100-continue', 'Content-Length': LIMIT, ...fields }));
    expect(await connection.rest()).toMatchObject([{ status, headers: { connection: 'close' } }]);
    expect(connection.interim).toEqual([]);
  });

  test.each(['200-ok', '100-continue, x', '100', ''])(
    'with an unknown value is 400, after the key: %s',
    async (value) => {
      const send = async (fields: Record<string, string>) =>
        sendRaw(server.origin, head({ Expect: value, 'Content-Length': REX.length, ...fields }) + REX);
      expect(JSON.parse((await send({})).body).message).toBe('Expect must be 100-continue');
      expect((await send({ Authorization: '' })).status).toBe(401);
      const get = await sendRaw(server.origin, `GET /livez HTTP/1.1\r\nHost: x\r\nExpect: ${value}\r\n\r\n`);
      expect(get.status).toBe(400);
    },
  );
});
