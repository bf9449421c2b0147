/** The API as middleware in another Koa app. */

import { createServer as createHttpServer } from 'node:http';
import Koa from 'koa';
import { describe, expect, test, vi } from 'vitest';
import { animalStore, type MiddlewareOptions } from '../../src/adapters/http/index.ts';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { listen } from '../support/sockets.ts';
import { openStore } from './open-store.ts';

const LARGE = newPetJson(samplePet('Rex', 2n ** 63n - 1n));

describe('in another Koa app', () => {
  async function mount(options: MiddlewareOptions = {}, before: Koa.Middleware[] = []) {
    const opened = await openStore();
    const app = new Koa();
    app.silent = true;
    for (const middleware of before) app.use(middleware);
    const mounted = animalStore(opened.store, { observers: opened.observers, ...options });
    // The middleware of a host can also call it, with the context that the types of Koa give it.
    app.use((ctx, next) => mounted(ctx, next));
    app.use((ctx) => {
      if (ctx.path === '/fails') ctx.throw(418, 'the host fails');
      ctx.body = `the host at ${ctx.path}`;
    });
    const url = await listen(createHttpServer(app.callback()));
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(url + path, { headers: opened.headers, ...init });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    return { ...opened, url, ask };
  }

  test('its paths are /v1 and those below it, and all others stay as they are', async () => {
    const { ask, outcomes } = await mount({ corsOrigins: ['https://example.org'] });
    for (const path of ['/', '/v1x', '/docs', '/openapi.json', '/livez', '/readyz', '/metrics', '//v1']) {
      const { status, headers, text } = await ask(path);
      expect([path, status, text]).toEqual([path, 200, `the host at ${path}`]);
      expect([headers.get('x-request-id'), headers.get('vary')]).toEqual([null, null]);
    }
    expect(await ask('/fails')).toMatchObject({ status: 418, text: 'the host fails' });
    expect(outcomes).toEqual([]);
    for (const [path, status] of [
      ['/v1', 404],
      ['/v1/', 404],
      ['/v1/pets/7', 404],
      ['/v1/pets', 200],
    ] as const) {
      expect([path, (await ask(path)).status]).toEqual([path, status]);
      expect((await ask(path, { headers: {} })).status).toBe(401);
    }
    expect(outcomes).toHaveLength(8);
  });

  test('it has the paths that options give to it', async () => {
    const metrics = { contentType: 'text/plain', text: async () => 'up 1' };
    const { ask } = await mount({ docs: true, health: true, metrics });
    for (const path of ['/docs', '/docs/icon.svg', '/openapi.json', '/livez', '/readyz', '/metrics'])
      expect([path, (await ask(path)).text.includes('the host')]).toEqual([path, false]);
    expect((await ask('/docs/none')).status).toBe(404);
    expect((await ask('/docsx')).text).toBe('the host at /docsx');
    expect(() => animalStore({} as never, {})).toThrow('store: expected an object with the methods');
    const { store } = await openStore();
    expect(() => animalStore(store, { trustedProxies: 1 } as object)).toThrow(
      'trustedProxies: expected the properties proxy and maxIpsCount of your Koa app, got 1',
    );
  });

  test('what the host has set for its own paths does not count, and its state stays its own', async () => {
    const seen: unknown[] = [];
    const { ask } = await mount({}, [
      async (ctx, next) => {
        Object.assign(ctx, { matched: [{ name: 'host', methods: ['GET'] }], params: { petId: '2' } });
        ctx.state = { user: 'Anna' };
        ctx.set('ETag', '"host"');
        ctx['disableBodyParser'] = true;
        await next();
        seen.push(ctx.state['user'], ctx.status, ctx.response.get('ETag') === '"host"');
      },
    ]);
    expect((await ask('/v1/nothing')).status).toBe(404);
    expect((await ask('/v1/pets', { method: 'POST', body: LARGE })).status).toBe(201);
    const { headers, text } = await ask('/v1/pets/1');
    expect(text).toBe(LARGE.replace('{', '{"id":1,'));
    // A link to /docs would be a link to the host.
    expect(headers.get('link')).toBe('</v1/pets>; rel="successor-version"');
    expect((await ask('/v1/pets', { method: 'PUT', body: LARGE })).headers.get('allow')).toBe(
      'GET, HEAD, POST, OPTIONS',
    );
    expect(seen).toEqual([404, 201, 200, 405].flatMap((status) => ['Anna', status, false]));
  });
});

test('an error that causes status 500, without an observer, goes to the error event of the host, whose default prints it', async () => {
  using error = vi.spyOn(console, 'error').mockReturnValue();
  const fail = () => {
    throw new Error('the middleware fails');
  };
  const { store } = await openStore();
  for (const listens of [true, false]) {
    const host = new Koa().use(animalStore(store, { middleware: { beforeKey: [fail] } }));
    const errors: unknown[] = [];
    if (listens) host.on('error', (error, ctx) => errors.push([String(error), ctx.status]));
    expect((await fetch(`${await listen(createHttpServer(host.callback()))}/v1/pets`)).status).toBe(500);
    expect(errors).toEqual(listens ? [['Error: the middleware fails', 500]] : []);
    expect(error.mock.calls.splice(0).join()).toMatch(listens ? /^$/ : /the middleware fails/);
  }
});
