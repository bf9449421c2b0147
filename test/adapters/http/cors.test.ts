import { describe, expect, test } from 'vitest';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const ORIGIN = 'https://shop.example';
const PREFLIGHT = {
  Origin: ORIGIN,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,content-type',
};

describe.each(STORAGES)('CORS, on %s', (storage) => {
  describe('when no origin is configured', () => {
    const server = sharedServer(storage);

    test('there is no CORS header, and a preflight needs a key like any request', async () => {
      for (const [method, key] of [
        ['GET', server.key],
        ['GET', null],
        ['OPTIONS', server.key],
      ] as const) {
        const answer = await server.client.request(method, '/v1/pets', { key, headers: PREFLIGHT });
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      const preflight = await server.client.request('OPTIONS', '/v1/pets', { key: null, headers: PREFLIGHT });
      expect(preflight.status).toBe(401);
    });
  });

  describe('when origins are configured', () => {
    const server = sharedServer(storage, { corsOrigins: ['http://localhost:8080', ORIGIN] });

    test('a preflight needs no key', async () => {
      const answer = await server.client.request('OPTIONS', '/v1/pets', { key: null, headers: PREFLIGHT });
      expect(answer).toMatchObject({
        status: 204,
        headers: {
          'access-control-allow-origin': ORIGIN,
          'access-control-allow-methods': 'GET,HEAD,POST,OPTIONS',
          'access-control-allow-headers': 'authorization,content-type',
          'access-control-max-age': '600',
          vary: 'Origin',
        },
      });
    });

    test('such an origin can read every response, including errors', async () => {
      const headers = { Origin: ORIGIN };
      const answers = [
        await server.client.get('/v1/pets', headers),
        await server.client.post({ name: 'Rex', categoryId: 1 }, headers),
        await server.client.post('{', headers),
        await server.client.request('GET', '/v1/pets', { key: null, headers }),
        await server.client.get('/v1/nothing', headers),
        await server.client.request('DELETE', '/v1/pets', { headers }),
        await server.client.get('/livez', headers),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 201, 400, 401, 404, 405, 200]);
      for (const answer of answers) {
        expect(answer.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: 'Origin' });
        expect(answer.headers['access-control-expose-headers']).toMatch(
          /ETag,Idempotency-Replayed,Link,Location,Retry-After/,
        );
        expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
      }
    });

    test.each([
      'https://evil.example',
      'null',
      `${ORIGIN}.evil.example`,
      'http://shop.example',
      `${ORIGIN}/`,
    ])('the response to another origin has no CORS header: %s', async (origin) => {
      const answer = await server.client.get('/v1/pets', { Origin: origin });
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
      const headers = { ...PREFLIGHT, Origin: origin };
      const preflight = await server.client.request('OPTIONS', '/v1/pets', { key: null, headers });
      expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
    });

    test('OPTIONS that is not a preflight gets the usual response', async () => {
      const answer = await server.client.request('OPTIONS', '/v1/pets', { headers: { Origin: ORIGIN } });
      expect(answer).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
      const none = await server.client.request('OPTIONS', '/v1/pets', {
        key: null,
        headers: { Origin: ORIGIN },
      });
      expect(none.status).toBe(401);
    });

    test('without an Origin, the response still has Vary: Origin', async () => {
      expect((await server.client.get('/v1/pets')).headers['vary']).toBe('Origin');
    });
  });

  test('the headers depend on the configured origins alone', async () => {
    const open = await startServer(storage, { corsOrigins: [ORIGIN] });
    const closed = await startServer(storage);
    const allowed = async ({ client }: typeof open, origin: string) => {
      const { status, headers } = await client.request('GET', '/v1/pets/0', { headers: { Origin: origin } });
      expect(status).toBe(404);
      return headers['access-control-allow-origin'];
    };
    expect(await allowed(open, ORIGIN)).toBe(ORIGIN);
    expect(await allowed(open, 'https://other.example')).toBeUndefined();
    expect(await allowed(closed, ORIGIN)).toBeUndefined();
    const preflight = await open.client.request('OPTIONS', '/v1/pets', { key: null, headers: PREFLIGHT });
    expect(preflight.headers['access-control-allow-methods']).toBe('GET,HEAD,POST,OPTIONS');
    expect(preflight.headers['access-control-expose-headers']).toBeUndefined();
    expect((await open.client.get('/v1/pets/0', { Origin: ORIGIN })).headers).toMatchObject({
      'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
      sunset: expect.any(String),
    });
  });
});
