import { beforeAll, describe, expect, test } from 'vitest';
import { STORAGES, sharedServer } from '../../support/server.ts';

describe.each(STORAGES)('header fields, on %s', (storage) => {
  const server = sharedServer(storage);
  let pet = '';

  beforeAll(async () => {
    pet = (await server.client.post({ name: 'Rex', categoryId: 7 })).headers['location'] ?? '';
    await server.client.post({ name: 'Mia', categoryId: 8 });
  });

  describe('ETag and If-None-Match', () => {
    test.each(['/v1/pets', '/v1/pets?limit=1', '/v1/pets?status=sold', 'pet'])(
      'a GET can be revalidated: %s',
      async (path) => {
        const target = path === 'pet' ? pet : path;
        const { headers } = await server.client.get(target);
        const { etag = '', link } = headers;
        for (const value of [etag, `W/${etag}`, '*', `"x", ${etag}`, `"x",W/${etag} , "y"`]) {
          const answer = await server.client.get(target, { 'If-None-Match': value });
          expect(answer, value).toMatchObject({ status: 304, body: '', headers: { etag } });
          expect(answer.headers['link']).toBe(link);
          expect(
            (await server.client.request('HEAD', target, { headers: { 'If-None-Match': value } })).status,
          ).toBe(304);
        }
        for (const value of ['"x"', etag.slice(1, -1), '', 'W/*', etag.toUpperCase(), '"*"', `"x ${etag}`]) {
          const answer = await server.client.get(target, { 'If-None-Match': value });
          expect(answer.status, value).toBe(200);
        }
      },
    );

    test('are equal for equal responses, and different for different responses', async () => {
      const etagOf = async (target: string) => (await server.client.get(target)).headers['etag'];
      expect(await etagOf('/v1/pets')).toBe(await etagOf('/v1/pets'));
      expect(await etagOf('/v1/pets')).not.toBe(await etagOf('/v1/pets?limit=1'));
      const before = await etagOf('/v1/pets?limit=100');
      await server.client.post({ name: 'Tom', categoryId: 9 });
      expect(await etagOf('/v1/pets?limit=100')).not.toBe(before);
    });

    test('do not apply to errors and creates', async () => {
      const headers = { 'If-None-Match': '*' };
      expect((await server.client.get('/v1/pets/999', headers)).status).toBe(404);
      expect((await server.client.get('/v1/pets?limit=0', headers)).status).toBe(400);
      expect((await server.client.post({ name: 'Rex', categoryId: 7 }, headers)).status).toBe(201);
    });
  });

  describe('X-Request-Id', () => {
    test.each(['a', 'A-z_09', 'x'.repeat(64), '-', '0'])('is kept if it is valid: %s', async (id) => {
      for (const target of ['/v1/pets', '/v1/nothing', '/livez', pet]) {
        expect((await server.client.get(target, { 'X-Request-Id': id })).headers['x-request-id']).toBe(id);
      }
      const answer = await server.client.request('GET', '/v1/pets', {
        key: null,
        headers: { 'X-Request-Id': id },
      });
      expect(answer.headers['x-request-id']).toBe(id);
    });

    test.each(['', 'x'.repeat(65), 'a b', 'a,b', 'a.b', '"a"', '<script>', '\u00e4', ['a', 'b']])(
      'is replaced if it is invalid: %s',
      async (id) => {
        const { headers } = await server.client.get('/v1/pets', { 'X-Request-Id': id });
        expect(headers['x-request-id']).not.toBe(String(id));
      },
    );

    test('is new for every request', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => server.client.get('/livez')));
      expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
    });
  });

  test('a response has its media type and its caching rules', async () => {
    const created = await server.client.post({ name: 'Rex', categoryId: 7 });
    expect(created.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    expect(created.headers).not.toHaveProperty('etag');
    const listed = await server.client.get('/v1/pets');
    expect(listed.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-cache',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    for (const [target, status] of [
      ['/v1/pets?limit=0', 400],
      ['/nothing', 404],
      ['/livez', 200],
    ] as const) {
      const answer = await server.client.get(target);
      expect(answer).toMatchObject({ status, headers: { 'cache-control': 'no-store' } });
    }
  });

  test('many and unusual header fields change nothing', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`X-Field-${index}`, 'x']));
    expect((await server.client.get('/v1/pets', many)).status).toBe(200);
    const unusual = {
      Range: 'bytes=0-1',
      'If-Match': '"x"',
      'If-Modified-Since': 'x',
      Cookie: '=',
      TE: 'trailers',
    };
    expect((await server.client.get('/v1/pets', unusual)).status).toBe(200);
    const override = {
      'X-HTTP-Method-Override': 'DELETE',
      'X-Forwarded-Host': 'evil',
      'X-Original-URL': '/livez',
    };
    expect((await server.client.get('/v1/pets', override)).status).toBe(200);
  });
});
