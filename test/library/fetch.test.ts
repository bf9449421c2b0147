/** The API as a function from a `Request` to a `Response`: what the tests over a server do not show. */

import { getEventListeners } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import type Koa from 'koa';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFetchHandler } from '../../src/adapters/http/fetch.ts';
import type { HttpOptions } from '../../src/adapters/http/index.ts';
import { REX_JSON as REX } from '../support/pets.ts';
import { openStore } from './open-store.ts';

const ORIGIN = 'http://pets.example';
const LIMIT = 16 * 1024;

type Body = NonNullable<RequestInit['body']> | null;

async function open(options: Omit<HttpOptions, 'observers'> = {}) {
  const { store, headers, outcomes, observers } = await openStore();
  const handle = createFetchHandler(store, { ...options, observers });
  /** Sends a create whose body can be anything that a `Request` accepts. */
  const create = (body: Body, fields: Record<string, string> = {}, signal?: AbortSignal) => {
    const init = { method: 'POST', headers: { ...headers, ...fields }, body, duplex: 'half', signal };
    return handle(new Request(`${ORIGIN}/v1/pets`, init as RequestInit));
  };
  return { handle, authorization: headers.Authorization, outcomes, create };
}

async function errorOf(response: Response): Promise<[status: number, message: string]> {
  const { message } = (await response.json()) as { message: string };
  return [response.status, message];
}

test('a status without content has no body, whatever a middleware sets', async () => {
  const respond = (ctx: { status: number; body: unknown }) => Object.assign(ctx, { status: 205, body: 'x' });
  const { handle, authorization } = await open({ middleware: { afterKey: [respond] } });
  const response = await handle(new Request(`${ORIGIN}/v1/x`, { headers: { authorization } }));
  expect([response.status, response.body]).toEqual([205, null]);
});

// biome-ignore lint/correctness/useYield: the stream fails before its first chunk.
function* failing(): Generator<string> {
  throw new Error('the disk failed');
}

describe('a response that a middleware writes with the methods of Node.js', () => {
  async function respond(write: (ctx: Koa.Context) => void, method = 'GET') {
    const { handle } = await open({ middleware: { beforeKey: [write] } });
    return await handle(new Request(`${ORIGIN}/v1/x`, { method }));
  }

  test('has the message, the fields and the body', async () => {
    const response = await respond((ctx) => {
      ctx.respond = false;
      ctx.res.appendHeader('X-Many', 'a').appendHeader('X-Many', ['b', 'c']);
      ctx.res.writeHead(299, 'Fine', { 'X-One': '1' });
      ctx.res.end('x');
    });
    expect([response.status, response.statusText, await response.text()]).toEqual([299, 'Fine', 'x']);
    expect(response.headers.get('X-Many')).toBe('a, b, c');
    expect(response.headers.get('X-One')).toBe('1');
  });

  test.each<[string, (ended: () => void) => readonly unknown[]]>([
    ['nothing', () => []],
    ['null', (ended) => [null, ended]],
    ['a callback', (ended) => [ended]],
  ])('has no content if it ends with %s', async (_case, values) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = await respond((ctx) => {
      ctx.respond = false;
      ctx.res.once('finish', resolve).end(...(values(resolve) as []));
    });
    expect(await response.text()).toBe('');
    await promise;
  });

  test('to HEAD has no body, and its stream is read to the end', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const body = Readable.from(['a', 'b']).once('close', resolve);
    const response = await respond((ctx) => {
      ctx.respond = false;
      body.pipe(ctx.res);
    }, 'HEAD');
    expect(response.body).toBeNull();
    await promise;
    expect(body.readableEnded).toBe(true);
  });

  test.each<[string, (res: Koa.Context['res']) => void]>([
    ['destroys it', (res) => res.destroy()],
    ['destroys it with an error', (res) => res.destroy(new Error('no more'))],
    ['sends a stream that fails', (res) => pipeline(Readable.from(failing()), res, () => {})],
  ])('becomes one with status 500 if the middleware %s before its head', async (_case, end) => {
    const response = await respond((ctx) => {
      ctx.respond = false;
      end(ctx.res);
    });
    const requestId = response.headers.get('X-Request-Id');
    expect(await errorOf(response)).toEqual([500, expect.stringContaining(`name the request ${requestId}`)]);
  });

  test('can be cancelled with an error', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = await respond((ctx) => {
      ctx.respond = false;
      ctx.res.once('close', resolve).write('x');
    });
    await response.body?.cancel(new Error('the client left'));
    await promise;
  });
});

test('a stream arrives before its end, as fast as it is read, and is closed when the client leaves', async () => {
  const state = { created: 0, isClosed: false };
  // A body of any number of chunks, each of which is created when it is wanted.
  const body = new Readable({
    highWaterMark: 1,
    read() {
      state.created += 1;
      this.push(`chunk ${state.created}`.padEnd(LIMIT));
    },
    destroy(error, callback) {
      state.isClosed = true;
      callback(error);
    },
  });
  const respond: Koa.Middleware = (ctx) => Object.assign(ctx, { body });
  const { handle, outcomes } = await open({ middleware: { beforeKey: [respond] } });
  const response = await handle(new Request(`${ORIGIN}/v1/x`));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(String(Buffer.from((await reader.read()).value as Uint8Array)).trim()).toBe('chunk 1');
  const untilNow = () => new Promise((resolve) => setTimeout(resolve, 20));
  await untilNow();
  const { created } = state;
  expect(created).toBeLessThan(10);
  await untilNow();
  expect(state.created).toBe(created);
  for (let count = 0; count < 20; count++) await reader.read();
  expect(state.created).toBeGreaterThan(20);
  await reader.cancel();
  await expect.poll(() => state.isClosed).toBe(true);
  await expect.poll(() => outcomes).toMatchObject([{ aborted: true }]);
});

describe('a request', () => {
  test('has the address that the host gives, whatever X-Forwarded-For says', async () => {
    const { handle, outcomes } = await open();
    for (const remoteAddress of [undefined, '192.0.2.7'])
      await handle(new Request(`${ORIGIN}/livez`, { headers: { 'X-Forwarded-For': '203.0.113.9' } }), {
        remoteAddress,
      });
    const addresses = [undefined, '192.0.2.7'].map((address) => ({ status: 200, address }));
    await expect.poll(() => outcomes).toMatchObject(addresses);
  });

  test('needs no Host, and has the scheme and the authority of its URL', async () => {
    const seen: string[] = [];
    const note: Koa.Middleware = (ctx, next) => {
      seen.push(`${ctx.protocol}://${ctx.host}`);
      return next();
    };
    const { handle } = await open({ middleware: { beforeKey: [note] } });
    const origins = ['http://pets.example', 'https://pets.example:8443', 'http://[::1]:3000'];
    for (const origin of origins) await handle(new Request(`${origin}/livez`));
    await handle(new Request(`${ORIGIN}/livez`, { headers: { Host: 'shop.example' } }));
    expect(seen).toEqual([...origins, 'http://shop.example']);
  });

  test('has the path that the URL parser returns', async () => {
    const { handle, authorization } = await open();
    const statusOf = async (target: string) =>
      (await handle(new Request(ORIGIN + target, { headers: { authorization } }))).status;
    for (const target of ['/v1/./pets', '/v1/x/../pets', '/v1/%2e/pets', '/v1\\pets', '/v1/pets?_#b?c'])
      expect(await statusOf(target), target).toBe(200);
    for (const target of ['/v1//pets', '/v1/pets/', '/v1%2Fpets']) expect(await statusOf(target)).toBe(404);
    expect((await handle(new Request(`${ORIGIN}/v1#x`))).status).toBe(401);
  });

  test('has joined values of repeated fields, so a repeated key, host or media type is refused', async () => {
    const { handle, authorization } = await open();
    const statusOf = async (...repeated: [string, string][]) => {
      const once: [string, string][] = [['Authorization', authorization]];
      const headers = [...once, ['Content-Type', 'application/json'], ...repeated] as [string, string][];
      return (await handle(new Request(`${ORIGIN}/v1/pets`, { method: 'POST', headers, body: REX }))).status;
    };
    expect(await statusOf()).toBe(201);
    expect(await statusOf(['Authorization', authorization])).toBe(401);
    expect(await statusOf(['Content-Type', 'application/json'])).toBe(415);
    expect(await statusOf(['Host', 'x'], ['Host', 'x'])).toBe(400);
  });

  test('that the client has aborted is reported as aborted', async () => {
    const { handle, outcomes } = await open();
    const aborter = new AbortController();
    const response = handle(new Request(`${ORIGIN}/readyz`, { signal: aborter.signal }));
    aborter.abort();
    await response;
    const next = new Request(`${ORIGIN}/readyz`);
    await handle(next);
    await expect.poll(() => outcomes).toMatchObject([{ aborted: true }, { aborted: undefined }]);
    // A request without a body can be handled any number of times.
    await expect.poll(() => getEventListeners(next.signal, 'abort')).toEqual([]);
  });
});

describe('a body', () => {
  const failingBody = () =>
    new ReadableStream({ pull: (controller) => controller.error(new Error('no more')) });
  const bytes = (length: number) => new Uint8Array(length).fill(0x20);

  /** Returns a stream of these chunks, and counts the chunks that were read. */
  function streamOf(chunks: readonly Uint8Array[]) {
    const state = { read: 0, isCancelled: false };
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const chunk = chunks[state.read];
          if (chunk === undefined) return controller.close();
          state.read += 1;
          controller.enqueue(chunk);
        },
        cancel() {
          state.isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    return { state, stream };
  }

  test('that is too large is refused while it arrives, and the rest is not read', async () => {
    const { create } = await open();
    const { state, stream } = streamOf(Array.from({ length: 10 }, () => bytes(LIMIT / 2)));
    const refused = await create(stream);
    expect([refused.status, refused.headers.get('connection')]).toEqual([413, 'close']);
    expect(state).toEqual({ read: 3, isCancelled: true });
    expect((await create(bytes(LIMIT + 1), { 'Content-Length': '5' })).status).toBe(413);
    expect(await errorOf(await create(bytes(LIMIT)))).toMatchObject([400, expect.stringContaining('JSON')]);
  });

  test('that the API does not read is left to the host', async () => {
    const { handle, authorization, outcomes } = await open();
    const init = { method: 'POST', headers: { authorization }, body: 'abc' };
    const request = new Request(`${ORIGIN}/v1/others`, init);
    await (await handle(request)).text();
    await expect.poll(() => outcomes).toMatchObject([{ status: 404 }]);
    expect(await request.text()).toBe('abc');
  });

  test.each<[string, end: (aborter: AbortController) => void, status: number]>([
    ['until the client leaves', (aborter) => aborter.abort(), 400],
    ['for 30 seconds', () => vi.advanceTimersByTime(30_000), 408],
  ])('that stalls %s is not waited for any longer', async (_case, end, status) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { create, outcomes } = await open();
    const { promise: stalled, resolve } = Promise.withResolvers<void>();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes(1)),
      pull() {
        resolve();
        return new Promise(() => {});
      },
    });
    const aborter = new AbortController();
    const responding = create(body, {}, aborter.signal);
    await stalled;
    end(aborter);
    const response = await responding;
    await expect.poll(() => outcomes).toMatchObject([{ status }]);
    if (status !== 408) return;
    expect(response.headers.get('connection')).toBe('close');
    expect(await errorOf(response)).toEqual([408, 'the request took too long to arrive']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('without a length is chunked, and a request without a body has neither', async () => {
    const seen: unknown[] = [];
    const note: Koa.Middleware = ({ headers }, next) => {
      seen.push([headers['content-length'], headers['transfer-encoding']]);
      return next();
    };
    const { create, handle } = await open({ middleware: { beforeKey: [note] } });
    await create(REX);
    await create(REX, { 'Content-Length': String(REX.length) });
    await handle(new Request(`${ORIGIN}/livez`));
    expect(seen).toEqual([
      [undefined, 'chunked'],
      [String(REX.length), undefined],
      [undefined, undefined],
    ]);
  });

  test('that fails while a middleware discards it does not affect the process', async () => {
    const closed = Promise.withResolvers<void>();
    const discard: Koa.Middleware = ({ req }, next) => {
      req.once('close', closed.resolve).resume();
      return next();
    };
    const { handle } = await open({ middleware: { beforeKey: [discard] } });
    const init = { method: 'POST', body: failingBody(), duplex: 'half' };
    expect((await handle(new Request(`${ORIGIN}/v1/pets`, init as RequestInit))).status).toBe(401);
    await closed.promise;
  });

  test('that was read before is a fault of the host, one that fails is bad, and neither creates a pet', async () => {
    const { handle, authorization, outcomes } = await open();
    const headers = { authorization, 'Content-Type': 'application/json' };
    const send = async (body: Body, read?: (request: Request) => unknown) => {
      const init = { method: 'POST', headers, body, duplex: 'half' };
      const request = new Request(`${ORIGIN}/v1/pets`, init as RequestInit);
      await read?.(request);
      return await handle(request);
    };
    expect((await send(REX, (request) => request.text())).status).toBe(500);
    expect((await send(REX, ({ body }) => void body?.getReader())).status).toBe(500);
    expect(await errorOf(await send(failingBody()))).toEqual([400, 'the body ended early']);
    await expect.poll(() => outcomes).toMatchObject([{ status: 500 }, { status: 500 }, { status: 400 }]);
    const listed = await handle(new Request(`${ORIGIN}/v1/pets`, { headers: { authorization } }));
    expect(await listed.json()).toEqual([]);
  });
});
