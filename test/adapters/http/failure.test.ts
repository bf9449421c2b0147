import { describe, expect, test } from 'vitest';
import { METHODS } from '../../../src/adapters/http/operations.ts';
import { STORAGE_FAULT_REASONS, StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { failingPets } from '../../support/fake-pets.ts';
import { startServer } from '../../support/server.ts';
import { petOperations, REX } from './paths.ts';

/** Returns an error that is not an instance of `AnimalStoreError`. */
function foreign(members: object): Error {
  return Object.assign(new Error('secret'), { name: 'AnimalStoreError', ...members });
}

describe('when the storage fails', () => {
  test('an error of another copy of the class is recognized by its code', async () => {
    const { client } = await startServer('memory', {
      wrap: failingPets(foreign({ code: 'storage_unavailable' })),
    });
    expect((await client.get('/v1/pets')).status).toBe(503);
  });

  test.each([
    ['an error', new Error('secret: SELECT * FROM pets')],
    [
      'an AnimalStoreError with the code internal_error',
      new AnimalStoreError('internal_error', 'secret: row 5'),
    ],
    [
      'an AnimalStoreError with an unknown code, from a later release',
      foreign({ code: 'from_a_later_release' }),
    ],
    ['an AnimalStoreError whose code is a property name of every object', foreign({ code: 'constructor' })],
    ['an error of Koa', foreign({ name: 'Error', status: 400, expose: true, headers: { X: 'secret' } })],
    ['an error with a status', foreign({ name: 'Error', status: 404, statusCode: 404, code: 'ENOENT' })],
    ['a string', 'secret'],
    ['undefined', undefined],
  ])('%s is 500 as an unexpected error, and only the request id is disclosed', async (_case, error) => {
    const { client, errors } = await startServer('memory', { wrap: failingPets(error) });
    for (const { method, path } of petOperations()) {
      const headers = { 'Content-Type': 'application/json', 'X-Request-Id': 'my-id' };
      const request = METHODS[method].hasBody ? { headers, body: REX } : { headers };
      const answer = await client.request(method, path.replace('{petId}', '1'), request);
      expect(answer.status).toBe(500);
      expect(JSON.parse(answer.body)).toEqual({
        code: 'internal_error',
        message: 'unexpected error; when you report it, name the request my-id',
        status: 500,
      });
      expect(JSON.stringify(answer.rawHeaders)).not.toContain('secret');
    }
    expect(errors).toHaveLength(petOperations().length);
  });

  test('a key that cannot be looked up is 503, not 401', async () => {
    const unavailable = new AnimalStoreError('storage_unavailable', 'the disk reports an error');
    const { client } = await startServer('memory', {
      wrap: (store) => ({
        ...store,
        apiKeys: {
          ...store.apiKeys,
          add: store.apiKeys.add.bind(store.apiKeys),
          find: () => Promise.reject(unavailable),
        },
      }),
    });
    expect((await client.get('/v1/pets')).status).toBe(503);
    expect((await client.request('GET', '/v1/pets', { key: null })).status).toBe(401);
  });
});

describe('/readyz', () => {
  async function bodyWhenCheckRejects(error: unknown): Promise<string> {
    const { client } = await startServer('memory', {
      wrap: (store) => ({ ...store, check: () => Promise.reject(error) }),
    });
    const { status, headers, body } = await client.request('GET', '/readyz', { key: null });
    expect({ status, headers }).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    return body;
  }

  test.each(STORAGE_FAULT_REASONS)('reports the reason %s, and nothing else', async (reason) => {
    const fault = new StorageFault(reason, 'secret', { cause: 'secret' });
    expect(await bodyWhenCheckRejects(fault)).toBe(`{"status":"unavailable","reason":"${reason}"}`);
  });

  test.each([
    ['an error without a reason', 'storage', new AnimalStoreError('storage_unavailable', 'secret')],
    ['an error with an unknown reason', 'storage', foreign({ reason: '/secret/pets.db' })],
    ['undefined', 'storage', undefined],
    ['a fault of another copy of the class', 'disk_full', foreign({ reason: 'disk_full' })],
  ])('reports %s with the reason %s', async (_, reason, error) => {
    expect(await bodyWhenCheckRejects(error)).toBe(`{"status":"unavailable","reason":"${reason}"}`);
  });
});
