/** What holds for every path and every method, and which of several faults determines the response. */

import { beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/adapters/http/api/operations.ts';
import { cannotExpress } from '../../support/carrier.ts';
import type { Answer, RequestOptions } from '../../support/client.ts';
import { sendRaw } from '../../support/connection.ts';
import { sharedServer } from '../../support/server.ts';
import { JSON_TYPE, METHODS, PATHS, REX, type ServedPath, UNKNOWN_TARGETS } from './paths.ts';

const MISSING = { status: 401, headers: { 'www-authenticate': 'Bearer realm="animal-store"' } };
const INVALID = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer realm="animal-store", error="invalid_token"' },
};
const ORIGIN = 'https://shop.example';
const PREFLIGHT = {
  Origin: ORIGIN,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,content-type',
};
const metrics = { contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' };
const server = sharedServer('memory', { metrics });
const withCors = sharedServer('memory', { metrics, corsOrigins: ['http://localhost:8080', ORIGIN] });

beforeAll(async () => {
  for (const { client } of [server, withCors]) await client.post(REX);
});

/** Sends a request, with a new key to `/metrics`, because each key may request them only 10 times per second. */
async function request(method: string, target: string, options: RequestOptions = {}): Promise<Answer> {
  const body = method === 'POST' && target === '/v1/pets' ? { body: REX } : {};
  const key = target.startsWith('/metrics') ? { key: (await server.store.apiKeys.create('new')).key } : {};
  return server.client.request(method, target, {
    ...body,
    ...key,
    ...options,
    headers: { ...JSON_TYPE, 'X-Request-Id': 'my-id', ...options.headers },
  });
}

function statusOf({ allow }: ServedPath, method: string): number | undefined {
  if (!allow.split(', ').includes(method)) return 405;
  return { GET: 200, HEAD: 200, POST: 201, OPTIONS: 204 }[method];
}

function withoutDate({ headers: { date, ...headers } }: Answer): Record<string, string> {
  return headers;
}

function corsFields({ headers }: Answer): Record<string, string> {
  const fields = Object.entries(headers).filter(([name]) => name.startsWith('access-control-'));
  return Object.fromEntries(fields);
}

test('the table of paths has every operation', () => {
  for (const { method, path } of OPERATIONS) {
    const { allow } = PATHS.find(({ target }) => target === path.replace('{petId}', '1')) ?? {};
    expect(allow, path).toContain(method);
  }
});

describe.each(PATHS)('$target', (path) => {
  const { target, needsKey, allow } = path;

  test('responds to each method, and to any other with 405', async () => {
    for (const method of METHODS) {
      const answer = await request(method, target);
      const status = statusOf(path, method);
      expect(answer, method).toMatchObject({ status, headers: { 'x-request-id': 'my-id' } });
      if (status === 204 || status === 405) expect(answer.headers['allow']).toBe(allow);
      if (status === 405) {
        const methods = allow.replace(/, (\w+)$/, ' or $1');
        expect(JSON.parse(answer.body).message).toBe(`${method} is not allowed here: expected ${methods}`);
      }
      expect(corsFields(answer)).toEqual({});
    }
  });

  test('has the same header fields for HEAD as for GET, and no body', async () => {
    const head = await request('HEAD', target);
    expect(head.body).toBe('');
    expect(withoutDate(head)).toEqual(withoutDate(await request('GET', target)));
  });

  test(needsKey ? 'needs a key before anything else' : 'needs no key', async () => {
    for (const method of METHODS) {
      const [none, wrong] = [
        await request(method, target, { key: null }),
        await request(method, target, { key: 'x'.repeat(40) }),
      ];
      const status = statusOf(path, method);
      expect([none, wrong], method).toMatchObject(needsKey ? [MISSING, INVALID] : [{ status }, { status }]);
    }
  });

  test('ignores Accept, an unknown query, unusual header fields and the body of a GET', async () => {
    for (const accept of ['text/html', 'application/xml;q=1, */*;q=0', 'nonsense', '']) {
      expect((await request('GET', target, { headers: { Accept: accept } })).status).toBe(200);
    }
    const headers = {
      'Content-Type': 'text/plain',
      'Content-Encoding': 'gzip',
      Range: 'bytes=0-1',
      'If-Match': '*',
      'Idempotency-Key': 'a b',
      'X-HTTP-Method-Override': 'DELETE',
      'X-Original-URL': '/livez',
      ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`X-Field-${index}`, 'x'])),
    };
    expect((await request('GET', `${target}?page=2`, { headers, body: 'no JSON' })).status).toBe(200);
  });

  test('with CORS, can be read by a script of an allowed origin, including errors', async () => {
    const ask = (method: string, headers: Record<string, string>, key: string | null = withCors.key) =>
      withCors.client.request(method, target, { key, headers });
    for (const answer of [
      await ask('GET', { Origin: ORIGIN }),
      await ask('GET', { Origin: ORIGIN }, null),
      await ask('DELETE', { Origin: ORIGIN }),
    ]) {
      expect(corsFields(answer)).toEqual({
        'access-control-allow-origin': ORIGIN,
        'access-control-expose-headers':
          'Deprecation,ETag,Idempotency-Replayed,Link,Location,Retry-After,Sunset,WWW-Authenticate,X-Request-Id',
      });
      expect(answer.headers['vary']).toMatch(/^Origin(, Accept-Encoding)?$/);
    }
    const other = await ask('GET', { Origin: 'https://evil.example' });
    expect(corsFields(other)).toEqual({});
    expect(other.headers['vary']).toMatch(/^Origin(, Accept-Encoding)?$/);
    const preflight = await ask('OPTIONS', PREFLIGHT, null);
    expect(preflight).toMatchObject({ status: 204, headers: { vary: 'Origin' } });
    expect(corsFields(preflight)).toEqual({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET,HEAD,POST,OPTIONS',
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-max-age': '600',
    });
    const options = await ask('OPTIONS', { Origin: ORIGIN });
    expect(options).toMatchObject({ status: 204, headers: { allow } });
    expect((await ask('OPTIONS', { Origin: ORIGIN }, null)).status).toBe(needsKey ? 401 : 204);
  });
});

test.each(['https://evil.example', 'null', `${ORIGIN}.evil`, 'http://shop.example', `${ORIGIN}/`])(
  'with CORS, the origin %s gets no CORS header, with a preflight neither',
  async (origin) => {
    const { client } = withCors;
    expect(corsFields(await client.get('/v1/pets', { Origin: origin }))).toEqual({});
    const headers = { ...PREFLIGHT, Origin: origin };
    const preflight = await client.request('OPTIONS', '/v1/pets', { key: null, headers });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  },
);

test('without CORS, a preflight needs a key like any request, and gets no CORS header', async () => {
  for (const key of [server.key, null]) {
    const answer = await request('OPTIONS', '/v1/pets', { key, headers: PREFLIGHT });
    expect(answer.status).toBe(key === null ? 401 : 204);
    expect(corsFields(answer)).toEqual({});
  }
});

test('with CORS, a response without Origin varies by it too', async () => {
  expect((await withCors.client.get('/v1/pets')).headers['vary']).toBe('Origin');
});

test('any other path is 404, after the key if it is under /v1', async () => {
  for (const target of UNKNOWN_TARGETS) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await request(method, target);
      expect(JSON.parse(answer.body), target).toEqual({
        code: 'not_found',
        message: /^[^?]*\/(\?|$)/.test(target)
          ? 'no such path: paths have no slash at the end'
          : /^\/v1(?![^/?])/.test(target)
            ? 'no such path; expected /v1/pets or /v1/pets/{petId}'
            : 'no such path; the API is under /v1',
        status: 404,
      });
      const needsKey = /^\/v1([/?]|$)/.test(target);
      expect((await request(method, target, { key: null })).status, target).toBe(needsKey ? 401 : 404);
    }
  }
});

describe('the first failed check determines the response', () => {
  const TOO_LARGE = 'x'.repeat(70_000);
  const text = { 'Content-Type': 'text/plain' };

  test.each([
    ['the key', 401, 'PUT', '/v1/nothing?limit=0', text, TOO_LARGE, null],
    ['the key, of a create', 401, 'POST', '/v1/pets', text, TOO_LARGE, null],
    ['the key, of an invalid body', 401, 'POST', '/v1/pets', JSON_TYPE, '{', null],
    ['the key, of an invalid id', 401, 'GET', '/v1/pets/no-number', text, undefined, null],
    ['the path', 404, 'PUT', '/v1/nothing?limit=0', text, TOO_LARGE, undefined],
    ['the method', 405, 'PUT', '/v1/pets?limit=0', text, TOO_LARGE, undefined],
    ['the media type', 415, 'POST', '/v1/pets', text, TOO_LARGE, undefined],
    ['the size', 413, 'POST', '/v1/pets', JSON_TYPE, TOO_LARGE, undefined],
    ['the content', 400, 'POST', '/v1/pets', JSON_TYPE, 'x', undefined],
    ['nothing, despite a query', 201, 'POST', '/v1/pets?limit=0&status=gone', JSON_TYPE, REX, undefined],
  ])('%s: %i', async (_check, status, method, target, headers, body, key) => {
    const options = { headers, ...(body === undefined ? {} : { body }), ...(key === null ? { key } : {}) };
    expect((await server.client.request(method, target, options)).status).toBe(status);
  });
});

describe('a target in absolute-form', () => {
  const raw = (requestLine: string, key = `Authorization: Bearer ${server.key}\r\n`) =>
    sendRaw(server.origin, `${requestLine} HTTP/1.1\r\nHost: x\r\n${key}\r\n`);

  test.each(['http://x/v1/pets', 'http://other.example:81/v1/pets?limit=1', 'HTTPS://X/v1/pets/1'])(
    'counts by its path and its query alone: %s',
    async (target) => {
      expect(await raw(`GET ${target}`)).toMatchObject({ status: 200 });
      expect(await raw(`GET ${target}`, '')).toMatchObject(MISSING);
    },
  );

  test.skipIf(cannotExpress('the target *'))(
    'can be *, the server as a whole, which needs no key',
    async () => {
      const options = await raw('OPTIONS *', '');
      expect(options).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
      for (const method of METHODS.filter((name) => name !== 'OPTIONS')) {
        expect((await raw(`${method} *`)).status, method).toBe(404);
      }
    },
  );
});
