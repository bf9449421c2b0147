/** Tests that the files of the page have a different entity tag, and the correct Vary, in each content coding. */

import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DOCS_ASSETS } from '../../../src/adapters/http/docs/assets.ts';
import { startDocumentedServer } from '../../support/documented-server.ts';

const PATHS = [...DOCS_ASSETS.map(({ path }) => path)];
const ORIGIN = 'https://app.example';

interface Received {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly bytes: Buffer;
}

/** Sends a request without the header fields that `fetch` adds, and resolves with the undecoded body. */
function send(url: string, headers: Record<string, string>, method = 'GET'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { Connection: 'close', ...headers } };
    request(url, options, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      resolve({ status: incoming.statusCode, headers: incoming.headers, bytes: Buffer.concat(chunks) });
    })
      .on('error', reject)
      .end();
  });
}

const GZIP = { 'Accept-Encoding': 'gzip' };

describe.each(PATHS)('%s', (path) => {
  test('is the same in both codings, whose entity tags differ', async () => {
    const { origin } = await startDocumentedServer();
    const plain = await send(origin + path, {});
    const compressed = await send(origin + path, GZIP);
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true);
    expect(plain.headers['content-type']).toBe(compressed.headers['content-type']);
    expect(plain.headers['etag']).toMatch(/^"[\w-]+"$/);
    expect(compressed.headers['etag']).toMatch(/^"[\w-]+"$/);
    expect(plain.headers['etag']).not.toBe(compressed.headers['etag']);
    for (const { status, headers, bytes } of [plain, compressed]) {
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        vary: 'Accept-Encoding',
        'cache-control': 'private, no-cache',
        'content-length': String(bytes.length),
      });
    }
  });

  test('is revalidated in the coding that the client accepts', async () => {
    const { origin } = await startDocumentedServer();
    const plain = await send(origin + path, {});
    const compressed = await send(origin + path, GZIP);
    const ifNoneMatch = ({ headers }: Received) => ({ 'If-None-Match': headers['etag'] as string });
    for (const [accept, current, other] of [
      [{}, plain, compressed],
      [GZIP, compressed, plain],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const fresh = await send(origin + path, { ...accept, ...ifNoneMatch(current) }, method);
        expect(fresh.status).toBe(304);
        expect(fresh.bytes).toHaveLength(0);
        const { vary, etag, 'cache-control': cacheControl } = current.headers;
        expect(fresh.headers).toMatchObject({ vary, etag, 'cache-control': cacheControl });
        expect(fresh.headers).not.toHaveProperty('content-encoding');
        expect(fresh.headers).not.toHaveProperty('content-type');
        expect(fresh.headers).not.toHaveProperty('content-length');
      }
      expect((await send(origin + path, { ...accept, ...ifNoneMatch(other) })).status).toBe(200);
      expect((await send(origin + path, { ...accept, 'If-None-Match': '*' })).status).toBe(304);
    }
  });

  test.each([{}, GZIP])('has the same fields for HEAD as for GET, with %j', async (accept) => {
    const { origin } = await startDocumentedServer();
    const fields = ({ headers: { date, 'x-request-id': _id, ...rest } }: Received) => rest;
    const head = await send(origin + path, accept, 'HEAD');
    expect(fields(head)).toEqual(fields(await send(origin + path, accept)));
    expect(head.bytes).toHaveLength(0);
  });

  test.each([
    [{}, 'Origin, Accept-Encoding'],
    [{ Origin: ORIGIN }, 'Origin, Accept-Encoding'],
    [{ Origin: 'https://other.example' }, 'Origin, Accept-Encoding'],
  ])('also varies by Origin if CORS is configured: %j', async (fields, vary) => {
    const { origin } = await startDocumentedServer({ corsOrigins: [ORIGIN] });
    const first = await send(origin + path, { ...GZIP, ...fields });
    expect(first).toMatchObject({ status: 200, headers: { vary } });
    const etag = first.headers['etag'] as string;
    const again = await send(origin + path, { ...GZIP, ...fields, 'If-None-Match': etag });
    expect(again).toMatchObject({ status: 304, headers: { vary, etag } });
  });
});

test.each([
  ['gzip', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['gzip, deflate, br', true],
  ['br,gzip', true],
  ['br;q=1.0, gzip;q=0.001 , *;q=0', true],
  ['gzip ; q=1', true],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['gzip; Q=0 , br', false],
  ['br', false],
  ['identity', false],
  ['*;q=0, identity', false],
  ['gzipped', false],
  ['xgzip', false],
  ['not gzip', false],
  ['', false],
  [',,', false],
])('Accept-Encoding: %s accepts gzip: %j', async (acceptEncoding, isTaken) => {
  const { origin } = await startDocumentedServer();
  const { headers } = await send(`${origin}/docs`, { 'Accept-Encoding': acceptEncoding });
  expect(headers['content-encoding']).toBe(isTaken ? 'gzip' : undefined);
});

test('an Accept-Encoding of 16 KiB is read like any other', async () => {
  const { origin } = await startDocumentedServer();
  const fields = [' '.repeat(15_000), ','.repeat(15_000), 'gzip;q=0'.padEnd(15_000), 'gzip '.repeat(3000)];
  for (const field of fields) {
    const { status } = await send(`${origin}/docs/icon.svg`, { 'Accept-Encoding': `${field}x` });
    expect(status).toBe(200);
  }
});
