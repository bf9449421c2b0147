/** The size and the arrival of a request body. `recorded` tests what a body may be. */

import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/adapters/http/body.ts';
import { newPetMembers } from '../../../src/adapters/http/schemas.ts';
import { Connection, sendLast, sendRaw } from '../../support/connection.ts';
import { sharedServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

const LIMIT = 16 * 1024;

const server = sharedServer('memory');

function head(fields: Record<string, string | number>): string {
  const all = { Host: 'x', Authorization: `Bearer ${server.key}`, ...JSON_TYPE, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/pets HTTP/1.1\r\n${lines.join('')}\r\n`;
}

describe('the size', () => {
  test('is at most 16 KiB, with Content-Length or in chunks', async () => {
    for (const [size, status] of [
      [LIMIT, 201],
      [LIMIT + 1, 413],
    ] as const) {
      const body = REX.padEnd(size);
      expect((await server.client.post(body)).status).toBe(status);
      const parts = [body.slice(0, 10_000), body.slice(10_000)];
      const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
      const message = `${head({ 'Transfer-Encoding': 'chunked' })}${chunks}0\r\n\r\n`;
      expect((await sendRaw(server.origin, message)).status).toBe(status);
    }
  });

  test.each([LIMIT + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 + 2])(
    'that Content-Length declares as %i is refused before the body arrives',
    async (size) => {
      expect(await sendLast(server.origin, head({ 'Content-Length': size }))).toMatchObject([
        { status: 413 },
      ]);
    },
  );
});

test('the bytes may be of another realm, as in Jest', async () => {
  const body: unknown = runInNewContext('Uint8Array.from(bytes)', { bytes: Buffer.from(REX) });
  const ctx = { request: { body } } as Parameters<typeof parseJson>[0];
  await parseJson(ctx, async () => {});
  expect(ctx.request.body).toEqual(newPetMembers(REX));
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
        const connection = await Connection.open(server.origin, head(fields) + start);
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
