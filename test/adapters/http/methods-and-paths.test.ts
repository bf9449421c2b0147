import { describe, expect, test } from 'vitest';
import { sendRaw } from '../../support/connection.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';

describe.each(STORAGES)('methods and paths, on %s', (storage) => {
  const server = sharedServer(storage);
  const raw = (requestLine: string) =>
    sendRaw(
      server.origin,
      `${requestLine} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`,
    );

  test.each([
    ['/v1/pets', 'GET, HEAD, POST, OPTIONS', ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']],
    ['/v1/pets/1', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'LINK']],
    ['/livez', 'GET, HEAD, OPTIONS', ['POST', 'DELETE', 'TRACE']],
    ['/readyz', 'GET, HEAD, OPTIONS', ['POST', 'DELETE', 'TRACE']],
  ])('%s allows %s and responds 405 to %j', async (target, allow, methods) => {
    for (const method of methods) {
      const answer = await server.client.request(method, target);
      expect(answer, method).toMatchObject({ status: 405, headers: { allow } });
    }
    const options = await server.client.request('OPTIONS', target);
    expect(options).toMatchObject({ status: 204, body: '', headers: { allow } });
    expect(options.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('OPTIONS * is about the server as a whole and needs no key', async () => {
    const answer = await sendRaw(server.origin, 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
    expect((await raw('GET *')).status).toBe(404);
  });

  test.each([
    '/v1/pets',
    '/v1/pets?limit=1',
    '/livez',
    '/readyz',
    '/nothing',
    '/v1/pets/999',
    '/v1/pets?limit=0',
  ])('HEAD %s gets the response to GET without the body', async (target) => {
    const get = await server.client.get(target, { 'X-Request-Id': 'same' });
    const head = await server.client.request('HEAD', target, { headers: { 'X-Request-Id': 'same' } });
    const withoutDate = ({ headers: { date, ...headers } }: typeof get) => headers;
    expect(head.status).toBe(get.status);
    expect(withoutDate(head)).toEqual(withoutDate(get));
  });

  test.each([
    '/v1',
    '/v1/',
    '/v1/pets/',
    '/v1/pets/1/',
    '/v1/pets/1/x',
    '/v1/Pets',
    '/v1/PETS',
    '/v1/pet',
    '/v1//pets',
    '//v1/pets',
    '/v1/pets//1',
    '/v1/./pets',
    '/v1/x/../pets',
    '/v1/store/orders',
    '/v1/store',
    '/v1/%zz',
    '/%zz',
    '/%',
    '/%E0%A4',
    '/v1%2Fpets',
    '/v1/%70ets',
    '/v1/pets%3Flimit=1',
    '/v1/pets;x=1',
    '/v2/pets',
    '/',
    '/LIVEZ',
    '/livez/',
    '/readyz/',
    '/favicon.ico',
    '/__proto__',
    '/constructor',
  ])('%s is 404', async (target) => {
    const answer = await server.client.get(target);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'not_found', status: 404 });
  });

  test.each([
    'http://x/v1/pets',
    'http://other.example:81/v1/pets?limit=1',
    'https://x/v1/pets',
    'HTTP://X/v1/pets',
  ])('only the path and the query of a target in absolute-form matter: %s', async (target) => {
    expect(await raw(`GET ${target}`)).toMatchObject({ status: 200 });
    expect((await sendRaw(server.origin, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).status).toBe(401);
  });

  test.each(['http://[::', 'http://[::1/v1/pets', 'http://%zz/v1/pets', 'http://'])(
    'a target that is not a URL is a client error: %s',
    async (target) => {
      const answer = await raw(`GET ${target}`);
      expect([400, 404]).toContain(answer.status);
      expect(
        (await sendRaw(server.origin, `OPTIONS ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).status,
      ).toBeLessThan(500);
    },
  );

  test.each(['*/*', 'application/json', 'text/html', 'application/xml;q=1, */*;q=0', 'nonsense', ''])(
    'Accept is ignored: %s',
    async (accept) => {
      expect((await server.client.get('/v1/pets', { Accept: accept })).status).toBe(200);
      expect((await server.client.get('/v1/nothing', { Accept: accept })).status).toBe(404);
    },
  );

  test('the body of a GET is ignored', async () => {
    const headers = { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
    const answer = await server.client.request('GET', '/v1/pets', { headers, body: 'no JSON' });
    expect(answer.status).toBe(200);
    expect((await server.client.get('/v1/pets')).status).toBe(200);
  });
});
