import { describe, expect, test } from 'vitest';
import { STORAGES, sharedServer } from '../../support/server.ts';

const TOO_LARGE = 'x'.repeat(70_000);
const TEXT = { 'Content-Type': 'text/plain' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe.each(STORAGES)('the first failed check determines the response, on %s', (storage) => {
  const server = sharedServer(storage);

  test('1. the key: 401, despite an unknown path, a wrong method and an invalid body', async () => {
    const options = { key: null, headers: TEXT, body: TOO_LARGE };
    expect((await server.client.request('PUT', '/v1/nothing?limit=0', options)).status).toBe(401);
  });

  test('2. the path: 404, despite a wrong method and an invalid body', async () => {
    const options = { headers: TEXT, body: TOO_LARGE };
    expect((await server.client.request('PUT', '/v1/nothing?limit=0', options)).status).toBe(404);
  });

  test('3. the method: 405, despite a wrong media type and an invalid body', async () => {
    const options = { headers: TEXT, body: TOO_LARGE };
    expect((await server.client.request('PUT', '/v1/pets?limit=0', options)).status).toBe(405);
  });

  test('4. the media type: 415, despite a body that is too large', async () => {
    const options = { headers: TEXT, body: TOO_LARGE };
    expect((await server.client.request('POST', '/v1/pets', options)).status).toBe(415);
  });

  test('5. the size: 413, despite a body that is not JSON', async () => {
    const options = { headers: JSON_TYPE, body: TOO_LARGE };
    expect((await server.client.request('POST', '/v1/pets', options)).status).toBe(413);
  });

  test('6. the content of the body: 400', async () => {
    const options = { headers: JSON_TYPE, body: 'x' };
    expect((await server.client.request('POST', '/v1/pets', options)).status).toBe(400);
  });

  test('7. no failed check: 201', async () => {
    const options = { headers: JSON_TYPE, body: '{"name":"Rex","categoryId":1}' };
    expect((await server.client.request('POST', '/v1/pets', options)).status).toBe(201);
  });
});
