/** Tests the files of the reference page. The tests in test/clients open the page in a browser. */

import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import Koa from 'koa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Admission } from '../../../src/adapters/http/api/admission.ts';
import type { Handler } from '../../../src/adapters/http/api/http.ts';
import { DOCS_ASSETS, docsAsset } from '../../../src/adapters/http/docs/assets.ts';
import { KoaRequest } from '../../../src/adapters/http/koa/request.ts';
import {
  type AppState,
  type RequestState,
  respond,
  respondWithError,
} from '../../../src/adapters/http/koa/respond.ts';
import { createNodeServer } from '../../../src/adapters/http/node/server.ts';
import { startDocumentedServer } from '../../support/documented-server.ts';
import { temporaryFolder } from '../../support/process.ts';

const NO_KEY = { headers: { Authorization: '', 'Accept-Encoding': 'identity' } };

/** Starts a server with only one handler, and resolves with its origin. */
async function serve(handler: Handler, errors: unknown[]): Promise<string> {
  const app = new Koa().use(async (ctx) => {
    const observer = { onError: (error: unknown) => errors.push(error) };
    const state: AppState = { observer, proxies: undefined, deprecation: [] };
    ctx.state = { app: state, requestId: 'request', startedAt: 0, address: undefined } satisfies RequestState;
    try {
      respond(ctx, await handler(new KoaRequest(ctx)));
    } catch (error) {
      respondWithError(ctx, error);
    }
  });
  const server = createNodeServer(app.callback(), new Admission(), { observer: {} });
  const origin = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.stop(0));
  return origin;
}

describe('the page', () => {
  test.each(DOCS_ASSETS)('serves $path without a key', async ({ path, type }) => {
    const { ask } = await startDocumentedServer();
    const answer = await ask('GET', path, NO_KEY);
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': type,
        'content-length': String(Buffer.byteLength(answer.body)),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-cache',
        vary: 'Accept-Encoding',
      },
    });
    expect(answer.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(answer.body).not.toContain('sourceMappingURL');
    const etag = answer.headers['etag'] as string;
    const again = await ask('GET', path, { headers: { ...NO_KEY.headers, 'If-None-Match': etag } });
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag } });
  });

  test('behaves like every other path', async () => {
    const { ask } = await startDocumentedServer();
    expect(await ask('HEAD', '/docs', NO_KEY)).toMatchObject({ status: 200, body: '' });
    expect(await ask('OPTIONS', '/docs', NO_KEY)).toMatchObject({ status: 204 });
    expect(await ask('POST', '/docs', NO_KEY)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
    for (const path of ['/docs/', '/docs/none.js', '/docs/..%2fmain.js', '/docs/main.ts']) {
      expect(await ask('GET', path, NO_KEY)).toMatchObject({ status: 404 });
    }
  });

  test('has no inline code and loads nothing from another origin', async () => {
    const { ask } = await startDocumentedServer();
    const { body } = await ask('GET', '/docs', NO_KEY);
    expect(body).toMatch(/<title>Animal Store API<\/title>/);
    expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    const targets = [...body.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, target]) => target);
    const served = ['/openapi.json', ...DOCS_ASSETS.map(({ path }) => path)].map((path) => path.slice(1));
    const files = targets.filter((target) => !target?.startsWith('#'));
    expect(files.length).toBeGreaterThan(3);
    expect(served).toEqual(expect.arrayContaining(files));
  });

  test('is 503 if its file cannot be read, and is read again by the next request', async () => {
    const path = join(temporaryFolder(), 'page');
    const errors: unknown[] = [];
    const origin = await serve(
      docsAsset({ path: '/docs', file: pathToFileURL(path).href, type: 'text/plain' }, []),
      errors,
    );
    for (const mend of [() => {}, () => mkdirSync(`${path}.gz`)]) {
      mend();
      const refused = await fetch(`${origin}/docs`);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('Retry-After')).toBe('1');
      expect(refused.headers.get('Cache-Control')).toBe('no-store');
      expect(await refused.json()).toEqual({
        code: 'overloaded',
        message: 'the reference page cannot be read at the moment',
        status: 503,
      });
    }
    const causes = errors.map((error) => (error as { cause: NodeJS.ErrnoException }).cause.code);
    expect(causes).toEqual(['ENOENT', 'EISDIR']);
    rmdirSync(`${path}.gz`);
    writeFileSync(`${path}.gz`, gzipSync('now'));
    const read = await fetch(`${origin}/docs`);
    expect([read.status, await read.text()]).toEqual([200, 'now']);
    rmSync(`${path}.gz`);
    expect((await fetch(`${origin}/docs`)).status).toBe(200);
  });
});
