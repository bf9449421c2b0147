/** The paths outside `/v1`. `recorded` tests what they have in common with all paths. */

import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { RouterContext } from '@koa/router';
import { expect, test } from 'vitest';
import { DOCS_ASSETS, docsAsset } from '../../../src/adapters/http/docs/assets.ts';
import type { ApiState } from '../../../src/adapters/http/state.ts';
import { temporaryFolder } from '../../support/process.ts';
import { sharedServer, startServer } from '../../support/server.ts';

const metrics = { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: async () => 'up 1\n' };
const server = sharedServer('memory');

test('/metrics needs only a read-only key', async () => {
  const { client, store } = await startServer('memory', { metrics });
  const { key } = await store.apiKeys.create('prometheus', undefined, true);
  expect(await client.request('GET', '/metrics', { key })).toMatchObject({ status: 200, body: 'up 1\n' });
});

async function send(target: string, headers: Record<string, string>, { origin } = server) {
  const outgoing = request(origin + target, { agent: false, headers }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, bytes: await buffer(incoming) };
}

const GZIP = { 'Accept-Encoding': 'gzip' };

test.each([...DOCS_ASSETS, { path: '/openapi.json' }])(
  '$path is the same in both codings, which have their own entity tags',
  async ({ path }) => {
    const [plain, compressed] = [await send(path, {}), await send(path, GZIP)];
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true);
    expect(plain.bytes.toString()).not.toContain('sourceMappingURL');
    for (const [accept, { headers, bytes }, other] of [
      [{}, plain, compressed],
      [GZIP, compressed, plain],
    ] as const) {
      const etag = headers['etag'] ?? '';
      expect(headers['content-length']).toBe(String(bytes.length));
      const again = await send(path, { ...accept, 'If-None-Match': etag });
      expect(again).toMatchObject({ status: 304, headers: { etag, vary: 'Accept-Encoding' } });
      for (const name of ['content-encoding', 'content-type', 'content-length'])
        expect(again.headers).not.toHaveProperty(name);
      expect((await send(path, { ...accept, 'If-None-Match': `${other.headers['etag']}` })).status).toBe(200);
      const list = `"a" ,\t, W/${etag}${' '.repeat(10_000)}"b"`;
      expect((await send(path, { ...accept, 'If-None-Match': list })).status).toBe(200);
      expect((await send(path, { ...accept, 'If-None-Match': `"a" ,\tW/${etag} , "b"` })).status).toBe(304);
    }
  },
);

test('a file of the page is read once, and is 404 if it does not exist', async () => {
  const path = join(temporaryFolder(), 'page');
  const asset = { path: '/docs', file: pathToFileURL(path).href, type: 'text/plain' };
  const ask = async (handle: ReturnType<typeof docsAsset>) => {
    const ctx = { get: () => '', set() {}, vary() {}, acceptsEncodings: () => 'identity' } as unknown;
    await handle(ctx as RouterContext<ApiState>, async () => {});
    return ctx as RouterContext<ApiState>;
  };
  await expect(ask(docsAsset(asset))).rejects.toMatchObject({ code: 'not_found', cause: { code: 'ENOENT' } });
  writeFileSync(`${path}.gz`, gzipSync('now'));
  const handle = docsAsset(asset);
  rmSync(`${path}.gz`);
  const { status, body } = await ask(handle);
  expect([status, String(body)]).toEqual([200, 'now']);
});
