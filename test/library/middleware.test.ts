/** The API with middleware of users inside its list, over its server and the fetch handler. */

import { createServer as createHttpServer } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import Koa from 'koa';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFetchHandler } from '../../src/adapters/http/fetch.ts';
import { animalStore, createHttpApp, createServer, type HttpOptions } from '../../src/adapters/http/index.ts';
import { REX } from '../support/pets.ts';
import { listen } from '../support/sockets.ts';
import { openStore } from './open-store.ts';

/** Fields that differ from response to response. */
const VARIABLE = /^(connection|date|keep-alive|transfer-encoding|x-request-id)$/;

describe.each(['koa', 'fetch'])('a middleware of a user in the list, over %s', (carrier) => {
  async function open(options: Omit<HttpOptions, 'observers'>) {
    const opened = await openStore();
    const all = { ...options, observers: opened.observers };
    const handle = createFetchHandler(opened.store, all);
    const url = await listen(createHttpServer(createHttpApp(opened.store, all).callback()));
    const ask = async (path: string, init: RequestInit = {}) => {
      const request = new Request(url + path, { headers: opened.headers, ...init });
      const response = await (carrier === 'koa' ? fetch(request) : handle(request));
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    return { ...opened, ask };
  }

  test('runs before the key is checked, or after it', async () => {
    const seen: unknown[] = [];
    const middleware = {
      beforeKey: [
        async (ctx, next) => {
          seen.push(['before', ctx.state['animalStore'].holder?.name]);
          ctx.set('X-Before', '1');
          await next();
          seen.push(['end', ctx.status]);
        },
      ],
      afterKey: [
        async (ctx, next) => {
          seen.push(['after', ctx.state['animalStore'].holder?.name, ctx.get('X-Tenant')]);
          ctx.vary('X-Tenant');
          await next();
          ctx.set('X-After', String(ctx.state['animalStore'].path));
        },
      ],
    } satisfies { beforeKey: Koa.Middleware[]; afterKey: Koa.Middleware[] };
    const { ask, headers } = await open({ middleware, corsOrigins: ['https://x.example'] });
    const listed = await ask('/v1/pets', { headers: { ...headers, 'X-Tenant': 'a' } });
    expect(Object.fromEntries(listed.headers)).toMatchObject({
      'x-before': '1',
      'x-after': '/v1/pets',
      vary: 'Origin, X-Tenant',
    });
    expect(seen.splice(0)).toEqual([
      ['before', undefined],
      ['after', 'me', 'a'],
      ['end', 200],
    ]);
    const refused = await ask('/v1/pets', { headers: {} });
    expect([refused.status, refused.headers.get('x-before')]).toEqual([401, '1']);
    expect(seen).toEqual([['before', undefined]]);
  });

  test.each([
    [{ status: 403, expose: true, message: 'no' }, 403, 'forbidden', 'no'],
    [{ status: 400, expose: false, message: 'secret' }, 400, 'invalid_request', 'the request was refused'],
    [
      { status: 429, expose: true, message: 'slow', headers: { 'Retry-After': '7' } },
      429,
      'rate_limited',
      'slow',
    ],
    [{ status: 503, message: 'secret' }, 503, 'overloaded', 'the request was refused'],
    [{ status: 501, message: 'secret' }, 501, 'internal_error', /^unexpected error/],
    [{ message: 'secret' }, 500, 'internal_error', /^unexpected error/],
  ])('throws an error that gets the Error body: %j', async (thrown, status, code, message) => {
    const fail: Koa.Middleware = () => {
      throw Object.assign(new Error(), thrown);
    };
    for (const place of ['beforeKey', 'afterKey'] as const) {
      const { ask, outcomes, errors } = await open({ middleware: { [place]: [fail] } });
      const answer = await ask('/v1/pets');
      const body = JSON.parse(answer.text);
      expect([answer.status, body.code, body.status]).toEqual([status, code, status]);
      expect(body.message).toMatch(message);
      expect(answer.headers.get('content-type')).toBe('application/json');
      if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
      await expect.poll(() => outcomes).toMatchObject([{ status }]);
      expect(errors).toHaveLength(status >= 500 ? 1 : 0);
    }
  });

  test('sets the status of an error without a body: the response has the Error body', async () => {
    const refuse: Koa.Middleware = (ctx) => Object.assign(ctx, { status: 400 });
    const { ask } = await open({ middleware: { afterKey: [refuse] } });
    const { status, text } = await ask('/v1/pets');
    expect([status, JSON.parse(text).code]).toEqual([400, 'invalid_request']);
  });

  test.each([
    [199, 500],
    [200, 200],
    [599, 599],
    [600, 500],
  ])('sets the status %i and a body: the response has the status %i', async (status, expected) => {
    const respond: Koa.Middleware = (ctx) => Object.assign(ctx, { status, body: 'x' });
    const { ask, errors } = await open({ middleware: { afterKey: [respond] } });
    expect((await ask('/v1/x')).status).toBe(expected);
    expect(errors.map(String)).toEqual(
      expected === status ? [] : [`RangeError: expected a status from 200 to 599, got ${status}`],
    );
  });

  test('lets the errors of the API pass as they are, and may catch them', async () => {
    const caught: unknown[] = [];
    const { ask } = await open({
      middleware: {
        beforeKey: [
          async (_, next) => {
            try {
              await next();
            } catch (error) {
              caught.push(error);
              throw error;
            }
          },
        ],
      },
    });
    expect(await ask('/v1/pets/none')).toMatchObject({ status: 404 });
    expect(caught).toMatchObject([{ code: 'not_found' }]);
  });

  test('sends a response itself, before or after it returns or throws: nobody adds to it', async () => {
    const own: Koa.Middleware = async (ctx, next) => {
      ctx.respond = false;
      const { res } = ctx;
      if (ctx.path === '/v1/late') setTimeout(() => res.end('late'), 10);
      else if (ctx.path === '/v1/begun') {
        res.writeHead(200, { 'X-A': '1' }).write('be');
        setTimeout(() => res.end('gun'), 10);
        await next();
      } else throw new Error('nothing was sent');
    };
    const { ask } = await open({ middleware: { afterKey: [own] } });
    expect(await ask('/v1/late')).toMatchObject({ status: 404, text: 'late' });
    const { status, headers, text } = await ask('/v1/begun');
    expect([status, headers.get('x-a'), text]).toEqual([200, '1', 'begun']);
    expect((await ask('/v1/fails')).text).toContain('internal_error');
  });

  test('throws after a part of its response was sent: the client notices', async () => {
    const begin: Koa.Middleware = async (ctx) => {
      ctx.res.write('a part');
      throw new Error('the rest is missing');
    };
    const { ask, errors } = await open({ middleware: { afterKey: [begin] } });
    await expect(ask('/v1/pets')).rejects.toThrow();
    expect(errors).toEqual(['Error: the rest is missing']);
  });

  test('throws after a success: its fields are not those of the error', async () => {
    const fail: Koa.Middleware = async (ctx, next) => {
      ctx.set('X-Tenant', 'a');
      await next();
      ctx.set('Content-Encoding', 'gzip');
      ctx.throw(403, 'no', { headers: { 'X-A': ctx.get('X-Value') } });
    };
    const { ask, headers, store } = await open({ middleware: { afterKey: [fail] } });
    for (let count = 0; count < 2; count++) await store.createPet(REX);
    const { status, headers: found } = await ask('/v1/pets?limit=1', {
      headers: { ...headers, 'X-Value': 'b' },
    });
    expect([status, found.get('x-a'), found.get('x-tenant')]).toEqual([403, 'b', 'a']);
    for (const name of ['content-encoding', 'etag', 'link']) expect(found.get(name)).toBeNull();
  });

  test('sets a field or a body that cannot be sent: 500, and the observers learn of it', async () => {
    const faults: Koa.Middleware[] = [
      (ctx) => ctx.set('X-A', 'a\nb'),
      (ctx) => ctx.set('X A', 'a'),
      (ctx) => ctx.throw(403, 'no', { headers: { 'X-A': 'a\nb' } }),
      (ctx) => {
        ctx.body = { a: 1n };
      },
    ];
    for (const fault of faults) {
      const { ask, outcomes, errors } = await open({ middleware: { afterKey: [fault] } });
      const { headers, text } = await ask('/v1/pets');
      expect(JSON.parse(text)).toMatchObject({ code: 'internal_error', status: 500 });
      expect(headers.get('x-request-id')).not.toBeNull();
      await expect.poll(() => outcomes).toMatchObject([{ status: 500 }]);
      expect(errors).toHaveLength(1);
    }
  });
});

test('a middleware of a user responds itself, with what an ordinary Koa app would send', async () => {
  const responses: Record<string, (ctx: Koa.Context) => void> = {
    nothing: () => {},
    text: (ctx) => Object.assign(ctx, { body: 'h\u00e4 <' }),
    html: (ctx) => Object.assign(ctx, { body: '<p>' }),
    bytes: (ctx) => Object.assign(ctx, { body: Buffer.from('bytes') }),
    json: (ctx) => Object.assign(ctx, { body: { a: 1 } }),
    absent: (ctx) => Object.assign(ctx, { body: undefined }),
    empty: (ctx) => {
      ctx.set('ETag', '"x"');
      ctx.body = null;
    },
    emptied: (ctx) => Object.assign(ctx, { status: 201, body: null }),
    unchanged: (ctx) => Object.assign(ctx, { body: 'x', status: 304 }),
    created: (ctx) => Object.assign(ctx, { status: 201, type: 'text/csv', body: 'a,b' }),
    fields: (ctx) => {
      ctx.append('Link', ['<a>', '<b>']);
      ctx.set({ 'X-A': '1', 'x-b': '2' });
      ctx.remove('x-A');
      ctx.body = JSON.stringify([ctx.response.get('X-B'), ctx.response.get('X-A'), ctx.querystring]);
    },
    forbidden: (ctx) => ctx.throw(403, 'not today'),
    unavailable: (ctx) => ctx.throw(503, 'secret'),
    number: (ctx) => Object.assign(ctx, { body: 5 }),
    date: (ctx) => Object.assign(ctx, { body: new Date(0) }),
    redirect: (ctx) => ctx.redirect('/v1/text'),
    refused: (ctx) => ctx.throw(403, 'no', { headers: { 'X-Why': 'today' } }),
    cookies: (ctx) => {
      for (const name of 'abc') ctx.cookies.set(name, name);
      ctx.body = 'x';
    },
    app: (ctx) => Object.assign(ctx, { body: String(ctx.app.proxy) }),
    cookie: (ctx) => Object.assign(ctx, { body: String(ctx.cookies.set('a', 'b').get('none')) }),
    stream: (ctx) => Object.assign(ctx, { body: Readable.from([Buffer.from('stream')]) }),
    node: (ctx) => {
      ctx.respond = false;
      const { res } = ctx;
      res.setHeader('X-A', '1').setHeader('x-a', ['2', '3']);
      const names = res.getHeaderNames().toSorted();
      const found = [names, res.getHeaders()['x-a'], res.hasHeader('X-A'), res.hasHeader('X-B')];
      res.writeHead(200, { 'X-B': '4' }).end(JSON.stringify(found));
    },
  };
  const respond: Koa.Middleware = (ctx) => responses[ctx.path.slice('/v1/'.length)]?.(ctx);
  const { store, headers } = await openStore();
  const options = { middleware: { afterKey: [respond] }, observers: [{}] };
  const server = createServer(store, options);
  onTestFinished(() => server.stop(0));
  const own = await server.listen(0, '127.0.0.1');
  const handle = createFetchHandler(store, options);
  const stock = await listen(createHttpServer(new Koa().use(animalStore(store, options)).callback()));
  for (const name of Object.keys(responses)) {
    for (const method of ['GET', 'HEAD']) {
      const [expected, ...found] = await Promise.all(
        [stock, own, 'http://x'].map(async (url) => {
          const request = new Request(`${url}/v1/${name}?a=b`, { method, headers, redirect: 'manual' });
          const response = await (url === 'http://x' ? handle(request) : fetch(request));
          const fields = [...response.headers].filter(([field]) => !VARIABLE.test(field));
          return [response.status, fields, await response.text()];
        }),
      );
      for (const each of found) expect([name, method, each]).toEqual([name, method, expected]);
    }
  }
});

describe('without an observer, an error that causes status 500', () => {
  const fail = () => {
    throw new Error('the middleware fails');
  };
  const middleware = { beforeKey: [fail] };

  function spyOnConsole() {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => logged.mockRestore());
    return () => logged.mock.calls.splice(0).map((values) => values.map(String).join(' '));
  }

  test('is printed by an own app, an own server and the fetch handler, with the request id', async () => {
    const logged = spyOnConsole();
    const { store } = await openStore();
    const server = createServer(store, { middleware });
    onTestFinished(() => server.stop(0));
    const app = await listen(createHttpServer(createHttpApp(store, { middleware }).callback()));
    const responses = [
      await fetch(`${app}/v1/pets`),
      await fetch(`${await server.listen(0, '127.0.0.1')}/v1/pets`),
      await createFetchHandler(store, { middleware })(new Request('http://x/v1/pets')),
    ];
    expect(responses.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(logged()).toEqual(
      responses.map(({ headers }) => `request ${headers.get('x-request-id')}: Error: the middleware fails`),
    );
  });

  test('is not printed if it is the end of a connection, or has another status', async () => {
    const logged = spyOnConsole();
    const { store, headers } = await openStore();
    const url = await listen(createHttpServer(createHttpApp(store).callback()));
    await fetch(`${url}/v1/nothing`, { headers });
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.Authorization}\r\n`);
    socket.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
    await fetch(`${url}/livez`);
    socket.resetAndDestroy();
    await fetch(`${url}/livez`);
    expect(logged()).toEqual([]);
  });
});
