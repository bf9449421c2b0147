import { beforeAll, describe, expect, test } from 'vitest';
import { DEPRECATED_SINCE, SUNSET } from '../../../src/adapters/http/api/deprecation.ts';
import { sendRaw } from '../../support/connection.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

describe.each(STORAGES)('GET /v1/pets/{petId}, on %s', (storage) => {
  const server = sharedServer(storage);
  let location = '';
  let body = '';

  beforeAll(async () => {
    const created = await server.client.post({ name: 'Rex', categoryId: 7 });
    location = created.headers['location'] ?? '';
    body = created.body;
  });

  test('responds with the pet', async () => {
    expect(await server.client.get(location)).toMatchObject({ status: 200, body });
    expect(await server.client.get(`${location}?whatever=1`)).toMatchObject({ status: 200, body });
    expect(await server.client.get(`${location}?`)).toMatchObject({ status: 200, body });
  });

  test.each(['0', '-1', '999999999', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'responds 404 with the id if there is no such pet: %s',
    async (id) => {
      const answer = await server.client.get(`/v1/pets/${id}`);
      expect(JSON.parse(answer.body)).toEqual({
        code: 'not_found',
        message: `there is no pet with id ${id}`,
        status: 404,
      });
    },
  );

  test.each([
    '9223372036854775808',
    '-9223372036854775809',
    '1.0',
    '1e0',
    '+1',
    '01',
    '%201',
    '1%20',
    'x',
    'undefined',
    '1;v=1',
    '1,2',
    '%zz',
    '%',
    '%E0%A4',
    '1%00',
    '%2F',
    '..',
    '__proto__',
    '9'.repeat(5000),
  ])('responds 404 to an id that is not an int64: %s', async (id) => {
    expect((await server.client.get(`/v1/pets/${id}`)).status).toBe(404);
  });

  test('states the deprecation and the sunset date in every response except 401', async () => {
    expect(DEPRECATED_SINCE.getTime()).toBe(1_764_892_800_000);
    expect(SUNSET.toUTCString()).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    const fields = { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
    const link = '</docs>; rel="deprecation"; type="text/html", </v1/pets>; rel="successor-version"';
    const headers = { ...fields, link };
    const { etag = '' } = (await server.client.get(location)).headers;
    for (const [method, target, ifNoneMatch, status] of [
      ['GET', location, undefined, 200],
      ['GET', `${location}?x=1`, undefined, 200],
      ['HEAD', location, undefined, 200],
      ['GET', location, etag, 304],
      ['GET', '/v1/pets/999999999', undefined, 404],
      ['GET', '/v1/pets/x', undefined, 404],
      ['OPTIONS', location, undefined, 204],
      ['DELETE', location, undefined, 405],
    ] as const) {
      const options = ifNoneMatch === undefined ? {} : { headers: { 'If-None-Match': ifNoneMatch } };
      const answer = await server.client.request(method, target, options);
      expect(answer, `${method} ${target}`).toMatchObject({ status, headers });
    }
    const unauthorized = await server.client.request('GET', location, { key: null });
    expect(unauthorized.headers).not.toHaveProperty('deprecation');
    expect((await server.client.get('/v1/pets')).headers).not.toHaveProperty('deprecation');
  });

  test('states the deprecation for a request in absolute-form', async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
    const answer = await sendRaw(server.origin, `GET http://any.host:1${location} HTTP/1.1\r\n${head}`);
    expect(answer).toMatchObject({ status: 200, body, headers: { deprecation: '@1764892800' } });
  });

  test('returns an id beyond 2^53 exactly', async () => {
    const { client } = await startServer(storage, {
      wrap: (store) => ({
        ...store,
        pets: {
          add: async (pet) => ({ ...pet, id: 9_223_372_036_854_775_807n }),
          find: async (id) => ({ id, name: 'Rex', categoryId: 1n, status: 'sold' }),
          list: async ({ after = 0n }) => ({
            pets: [{ id: after + 1n, name: 'Rex', categoryId: 1n, status: 'sold' }],
            more: true,
          }),
        },
      }),
    });
    const found = await client.get('/v1/pets/9007199254740993');
    expect(found.body).toBe('{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"sold"}');
    const created = await client.post({ name: 'Rex', categoryId: 1 });
    expect(created.body).toContain('"id":9223372036854775807,');
    expect(created.headers['location']).toBe('/v1/pets/9223372036854775807');
    const listed = await client.get('/v1/pets?limit=1&after=9007199254740992');
    expect(listed.body).toContain('"id":9007199254740993,');
    expect(listed.headers['link']).toBe('</v1/pets?limit=1&after=9007199254740993>; rel="next"');
  });
});
