/** `GET /v1/pets/{petId}`, its deprecation, and the entity tags of both reads. */

import { beforeAll, describe, expect, test } from 'vitest';
import { SUNSET, sunsetNotice } from '../../../src/adapters/http/api/deprecation.ts';
import { cannotExpress } from '../../support/carrier.ts';
import { sendRaw } from '../../support/connection.ts';
import { sharedServer, startServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

const server = sharedServer('memory');

beforeAll(async () => {
  await server.client.post(REX);
  await server.client.post({ name: 'Mia', categoryId: 8 });
});

describe('GET /v1/pets/{petId}', () => {
  test.each(['/v1/pets/1', '/v1/pets/1?whatever=1', '/v1/pets/1?'])(
    'responds with the pet: %s',
    async (target) => {
      const body = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
      expect(await server.client.get(target)).toMatchObject({ status: 200, body });
    },
  );

  test('responds 404 with the id if there is no such pet', async () => {
    for (const id of ['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808']) {
      const answer = await server.client.get(`/v1/pets/${id}`);
      const message = `there is no pet with id ${id}`;
      expect(JSON.parse(answer.body)).toEqual({ code: 'not_found', message, status: 404 });
    }
  });

  test.each([
    '9223372036854775808',
    '-9223372036854775809',
    '1.0',
    '1e0',
    '+1',
    '01',
    '%201',
    'x',
    '1;v=1',
    '%zz',
    '%E0%A4',
    '1%00',
    '%2F',
    ...(cannotExpress('a path with the segments . and ..') ? [] : ['..']),
    '__proto__',
    '9'.repeat(5000),
  ])('responds 404 to an id that is not an int64: %s', async (id) => {
    const answer = await server.client.get(`/v1/pets/${id}`);
    const message = expect.stringMatching(/an id is an int64|no such path/);
    expect(JSON.parse(answer.body)).toEqual({ code: 'not_found', message, status: 404 });
  });

  test('returns an id beyond 2^53 exactly, as a create and a list do', async () => {
    const rex = { name: 'Rex', categoryId: 1n, status: 'sold' } as const;
    const { client } = await startServer('memory', {
      wrap: (store) => ({
        ...store,
        pets: {
          add: async (pet) => ({ ...pet, id: 9_223_372_036_854_775_807n }),
          find: async (id) => ({ id, ...rex }),
          list: async ({ after = 0n }) => ({ pets: [{ id: after + 1n, ...rex }], more: true }),
        },
      }),
    });
    const found = await client.get('/v1/pets/9007199254740993');
    expect(found.body).toBe('{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"sold"}');
    const created = await client.post(REX);
    expect(created.body).toContain('"id":9223372036854775807,');
    expect(created.headers['location']).toBe('/v1/pets/9223372036854775807');
    const listed = await client.get('/v1/pets?limit=1&after=9007199254740992');
    expect(listed.body).toContain('"id":9007199254740993,');
    expect(listed.headers['link']).toBe('</v1/pets?limit=1&after=9007199254740993>; rel="next"');
  });
});

describe('the deprecation', () => {
  test.each([
    ['GET', '/v1/pets/1?x=1', 200],
    ['HEAD', '/v1/pets/1', 200],
    ['GET', '/v1/pets/999', 404],
    ['GET', '/v1/pets/x', 404],
    ['OPTIONS', '/v1/pets/1', 204],
    ['DELETE', '/v1/pets/1', 405],
  ])('is in every response except 401: %s %s', async (method, target, status) => {
    expect(await server.client.request(method, target)).toMatchObject({
      status,
      headers: {
        deprecation: '@1764892800',
        sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
        link: '</docs>; rel="deprecation"; type="text/html", </v1/pets>; rel="successor-version"',
      },
    });
    const unauthorized = await server.client.request(method, target, { key: null });
    expect(unauthorized.headers).not.toHaveProperty('deprecation');
  });

  test.each<[target: string, expected: boolean]>([
    ['/v1/pets/x?a=b', true],
    ['/v1/pets/x#', true],
    ['https://pets.example.org/v1/pets/1', true],
    ['HTTP://x/v1/pets/1', true],
    ['/v1/pets', false],
    ['/v1/pets/', false],
    ['/v1/pets?after=1', false],
    ['/v1/pets/1/2', false],
    ['/v1/PETS/1', false],
    ['/docs/v1/pets/1', false],
    ...(cannotExpress('the target *') ? [] : [['*', false] as [string, boolean]]),
  ])(
    'is in a response that is decided before the path is matched, for the target %s: %s',
    async (target, expected) => {
      const head = `Host: x\r\nHost: y\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
      const { status, headers } = await sendRaw(server.origin, `GET ${target} HTTP/1.1\r\n${head}`);
      expect(status).toBe(400);
      expect('deprecation' in headers).toBe(expected);
    },
  );

  test('is in an error response to a request in absolute-form', async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
    const answer = await sendRaw(server.origin, `GET HTTP://x:1/v1/pets/999 HTTP/1.1\r\n${head}`);
    expect(answer).toMatchObject({ status: 404, headers: { deprecation: '@1764892800' } });
  });

  test('has a notice from the sunset on', () => {
    expect(sunsetNotice(SUNSET.getTime() - 1)).toBeUndefined();
    expect(sunsetNotice(SUNSET.getTime())).toBe(
      'GET /v1/pets/{petId} has passed its sunset on 2030-12-05T00:00:00.000Z',
    );
  });
});

describe('ETag and If-None-Match', () => {
  test.each(['/v1/pets', '/v1/pets?limit=1', '/v1/pets?status=sold', '/v1/pets/1'])(
    'a GET can be revalidated: %s',
    async (target) => {
      const { etag = '', link } = (await server.client.get(target)).headers;
      const ask = (value: string, method = 'GET') =>
        server.client.request(method, target, { headers: { 'If-None-Match': value } });
      for (const value of [etag, `W/${etag}`, '*', `"x", ${etag}`, `"x",W/${etag} , "y"`]) {
        const answer = await ask(value);
        expect(answer, value).toMatchObject({ status: 304, body: '', headers: { etag } });
        expect(answer.headers['link']).toBe(link);
        expect(answer.headers).not.toHaveProperty('content-type');
        expect((await ask(value, 'HEAD')).status).toBe(304);
      }
      for (const value of ['"x"', etag.slice(1, -1), '', 'W/*', etag.toUpperCase(), '"*"', `x W/${etag}`]) {
        expect((await ask(value)).status, value).toBe(200);
      }
    },
  );

  test('are equal for equal responses, and different for different responses', async () => {
    const etagOf = async (target: string) => (await server.client.get(target)).headers['etag'];
    const first = await etagOf('/v1/pets');
    expect(await etagOf('/v1/pets')).toBe(first);
    expect(await etagOf('/v1/pets?limit=1')).not.toBe(first);
    await server.client.post(REX);
    expect(await etagOf('/v1/pets')).not.toBe(first);
  });

  test('is not in the response to a create', async () => {
    expect((await server.client.post(REX)).headers).not.toHaveProperty('etag');
  });
});

describe('preconditions', () => {
  const FAILED = { status: 412, body: expect.stringContaining('"code":"precondition_failed"') };
  const PATHS = ['/v1/pets', '/v1/pets?limit=1', '/v1/pets/1', '/docs', '/openapi.json'];

  test.each(PATHS)(
    'GET and HEAD of %s need a true If-Match, which comes before If-None-Match',
    async (target) => {
      const { etag = '' } = (await server.client.get(target)).headers;
      for (const method of ['GET', 'HEAD']) {
        const ask = (headers: Record<string, string>) => server.client.request(method, target, { headers });
        for (const value of ['*', etag, `"x", ${etag}`, `W/"x",*`]) {
          expect((await ask({ 'If-Match': value })).status, value).toBe(200);
          expect((await ask({ 'If-Match': value, 'If-None-Match': etag })).status, value).toBe(304);
        }
        for (const value of ['"x"', `W/${etag}`, etag.slice(1, -1), '', 'W/*', ',,']) {
          for (const others of [{}, { 'If-None-Match': etag }, { 'If-Unmodified-Since': 'x' }]) {
            const answer = await ask({ 'If-Match': value, ...others });
            expect(answer, value).toMatchObject({ ...FAILED, ...(method === 'HEAD' ? { body: '' } : {}) });
          }
        }
        expect((await ask({ 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status).toBe(200);
      }
    },
  );

  test.each(['/livez', '/readyz'])('%s has no entity tag that If-Match could have', async (target) => {
    expect(await server.client.get(target, { 'If-Match': '"x"' })).toMatchObject(FAILED);
    expect((await server.client.get(target, { 'If-Match': '*' })).status).toBe(200);
  });

  test('of a create are about the list at its URL, and nothing is stored if they are false', async () => {
    const list = async (query = '') => (await server.client.get(`/v1/pets${query}`)).headers['etag'] ?? '';
    const create = (headers: Record<string, string>, query = '') =>
      server.client.request('POST', `/v1/pets${query}`, { headers: { ...JSON_TYPE, ...headers }, body: REX });
    const [before, sold] = [await list(), await list('?status=sold')];
    for (const headers of [
      ...['*', '"x", *', before, `W/${before}`].map((value) => ({ 'If-None-Match': value })),
      ...['"x"', `W/${before}`, '', sold].map((value) => ({ 'If-Match': value })),
      { 'If-Match': before, 'If-None-Match': '*' },
      { 'If-Match': '*', 'If-None-Match': before },
      { 'If-Match': '"x"', 'Idempotency-Key': 'precondition' },
    ]) {
      expect(await create(headers), JSON.stringify(headers)).toMatchObject(FAILED);
    }
    expect(await create({ 'If-Match': before }, '?status=sold')).toMatchObject(FAILED);
    expect(await list()).toBe(before);
    for (const headers of [
      { 'If-Match': before },
      { 'If-Match': '*' },
      { 'If-None-Match': '"x"' },
      { 'If-None-Match': before },
      { 'If-None-Match': '', 'Idempotency-Key': 'precondition' },
    ]) {
      expect((await create(headers)).status, JSON.stringify(headers)).toBe(201);
    }
    expect((await create({ 'If-Match': sold }, '?status=sold')).status).toBe(201);
  });

  test('do not apply to a request that is refused for another reason, or to OPTIONS', async () => {
    const headers = { ...JSON_TYPE, 'If-None-Match': '*', 'If-Match': '"x"' };
    const body = REX;
    for (const [method, target, options, status] of [
      ['GET', '/v1/pets/999', { headers }, 404],
      ['GET', '/v1/nothing', { headers }, 404],
      ['GET', '/v1/pets?limit=0', { headers }, 400],
      ['GET', '/v1/pets', { headers, key: null }, 401],
      ['DELETE', '/v1/pets', { headers }, 405],
      ['OPTIONS', '/v1/pets', { headers }, 204],
      ['POST', '/v1/pets', { headers, body, key: null }, 401],
      ['POST', '/v1/pets', { headers, body: '{}' }, 400],
      ['POST', '/v1/pets', { headers: { ...headers, 'Content-Type': 'text/plain' }, body }, 415],
      ['POST', '/v1/pets', { headers, body: REX.padEnd(70_000) }, 413],
      ['POST', '/v1/pets', { headers: { ...headers, 'Content-Encoding': 'gzip' }, body }, 415],
    ] as const) {
      expect((await server.client.request(method, target, options)).status, `${method} ${target}`).toBe(
        status,
      );
    }
  });
});

describe('X-Request-Id', () => {
  const idFor = async (id: string | string[]) =>
    (await server.client.get('/livez', { 'X-Request-Id': id })).headers['x-request-id'];

  test('is kept if it is valid', async () => {
    for (const id of ['a', 'A-z_09', 'x'.repeat(15), 'F'.repeat(32), '-', '0'])
      expect(await idFor(id)).toBe(id);
  });

  test('is new for every request if it is missing or invalid', async () => {
    const invalid = [
      '',
      'x'.repeat(16),
      'f'.repeat(31),
      'f'.repeat(36),
      'a b',
      'a,b',
      'a.b',
      '"a"',
      '<script>',
      '\u00e4',
      ['a', 'b'],
    ];
    const ids = await Promise.all(invalid.map(idFor));
    expect(new Set(ids).size).toBe(invalid.length);
    for (const [index, id] of ids.entries()) expect(id).not.toBe(String(invalid[index]));
  });
});
