import { describe, expect, test } from 'vitest';
import { Connection, sendRaw } from '../../support/connection.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const MISSING = 'Bearer realm="animal-store"';
const INVALID = 'Bearer realm="animal-store", error="invalid_token"';

describe.each(STORAGES)('the API key, on %s', (storage) => {
  const server = sharedServer(storage);

  test.each([
    ['GET', '/v1/pets'],
    ['POST', '/v1/pets'],
    ['GET', '/v1/pets/1'],
    ['HEAD', '/v1/pets'],
    ['OPTIONS', '/v1/pets'],
    ['DELETE', '/v1/pets'],
    ['PUT', '/v1/pets/1'],
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v1?limit=1'],
    ['GET', '/v1/store/orders'],
    ['GET', '/v1/nothing/here'],
    ['GET', '/v1/pets?limit=0'],
    ['GET', '/v1/pets/no-number'],
    ['GET', '/v1/%zz'],
    ['TRACE', '/v1/pets'],
  ])('is checked before the path and the method: %s %s', async (method, target) => {
    const none = await server.client.request(method, target, { key: null });
    expect(none).toMatchObject({ status: 401, headers: { 'www-authenticate': MISSING } });
    const wrong = await server.client.request(method, target, { key: 'x'.repeat(40) });
    expect(wrong).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID } });
  });

  test.each([
    ['a body that is not JSON', 'application/json', '{'],
    ['a body that breaks the rules', 'application/json', '{}'],
    ['another media type', 'text/plain', 'hello'],
    ['a body that is too large', 'application/json', ' '.repeat(100_000)],
  ])('is checked before the body: %s', async (_name, type, body) => {
    const answer = await server.client.request('POST', '/v1/pets', {
      key: null,
      headers: { 'Content-Type': type },
      body,
    });
    expect(answer.status).toBe(401);
  });

  test.each(['/', '/nothing', '/v1x', '/v2/pets', '/V1/pets', '/pets'])(
    'is not required outside of /v1: %s is 404 without a key',
    async (target) => {
      expect((await server.client.request('GET', target, { key: null })).status).toBe(404);
    },
  );

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
    'is accepted after the scheme in any letter case: %s',
    async (scheme) => {
      const answer = await server.client.get('/v1/pets', { Authorization: `${scheme} ${server.key}` });
      expect(answer.status).toBe(200);
    },
  );

  test.each([
    ['the key in another case', (key: string) => `Bearer ${key.toUpperCase()}`],
    ['another scheme', (key: string) => `Basic ${Buffer.from(`x:${key}`).toString('base64')}`],
    ['no scheme', (key: string) => key],
    ['no key', () => 'Bearer'],
    ['an empty key', () => 'Bearer '],
    ['a key with text after it', (key: string) => `Bearer ${key} ${key}`],
    ['a key with a comma', (key: string) => `Bearer ${key},`],
    ['a key in quotes', (key: string) => `Bearer "${key}"`],
    ['a part of a key', (key: string) => `Bearer ${key.slice(0, 30)}`],
    ['a key with a character that keys cannot contain', (key: string) => `Bearer ${key.slice(0, -1)}~`],
    ['bytes beyond ASCII', () => 'Bearer sch\u00fcssel'],
    ['a very long key', () => `Bearer ${'k'.repeat(10_000)}`],
  ])('is refused: %s', async (_name, header) => {
    const answer = await server.client.get('/v1/pets', { Authorization: header(server.key) });
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID } });
  });

  test.each([
    ['the key alone', (key: string) => key, 'the scheme Bearer is missing before the API key'],
    ['a scheme alone', () => 'Basic', 'the scheme Bearer is missing before the API key'],
    ['Basic', (key: string) => `Basic ${btoa(`x:${key}`)}`, 'Authorization must have the scheme Bearer'],
    ['ApiKey', (key: string) => `ApiKey ${key}`, 'Authorization must have the scheme Bearer'],
    ['two keys', (key: string) => `${key} ${key}`, 'Authorization must have the scheme Bearer'],
    ['Bearer and a colon', (key: string) => `Bearer: ${key}`, 'Authorization must have the scheme Bearer'],
    ['Bearer without a key', () => 'bearer', 'expected one API key after Bearer'],
    ['Bearer with two keys', (key: string) => `Bearer ${key} ${key}`, 'expected one API key after Bearer'],
  ])(
    'is refused with a message that tells the syntax, and repeats nothing: %s',
    async (_name, header, fault) => {
      const value = header(server.key);
      const answer = await server.client.get('/v1/pets', { Authorization: value });
      expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID } });
      expect(JSON.parse(answer.body)).toEqual({
        code: 'unauthorized',
        message: `${fault}: Authorization: Bearer <API_KEY>`,
        status: 401,
      });
      for (const part of value.split(' ').slice(1)) expect(JSON.stringify(answer)).not.toContain(part);
      expect(JSON.stringify(answer)).not.toContain(server.key.slice(0, 20));
    },
  );

  test('is refused from the next request after it was revoked', async () => {
    const { storage: store, client } = await startServer(storage);
    expect((await client.get('/v1/pets')).status).toBe(200);
    const [about] = await store.apiKeys.list();
    await store.apiKeys.revoke(about?.id ?? '', Date.now());
    expect((await client.get('/v1/pets')).status).toBe(401);
  });

  test('must be given once: two Authorization headers are 401, even if both are valid', async () => {
    const line = `Authorization: Bearer ${server.key}\r\n`;
    const answer = await sendRaw(server.origin, `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${line}${line}\r\n`);
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID } });
  });

  test('is never read from the query', async () => {
    const target = `/v1/pets?access_token=${server.key}`;
    expect((await server.client.request('GET', target, { key: null })).status).toBe(401);
  });

  test('is required in each request of a connection', async () => {
    const connection = await Connection.open(server.origin);
    connection.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`);
    expect((await connection.next()).status).toBe(200);
    connection.write('GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await connection.next()).status).toBe(401);
    connection.destroy();
  });
});
