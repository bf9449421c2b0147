/** Faulty code of the host: verifiers, observers, proxies, metrics and storages without types. */

import { expect, onTestFinished, test, vi } from 'vitest';
import type { RequestOutcome } from '../../../src/adapters/http/index.ts';
import type { KeyVerifier } from '../../../src/adapters/http/options.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { failingPets, withPets } from '../../support/fake-pets.ts';
import { startServer } from '../../support/server.ts';
import { REX } from './paths.ts';

const ANNA = { id: 'anna', name: 'Anna' };

/** Fails the test at an unhandled rejection, which would end a program. */
function noUnhandledRejection(): void {
  const onRejection = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', onRejection);
  onTestFinished(() => {
    process.off('unhandledRejection', onRejection);
    expect(onRejection.mock.calls).toEqual([]);
  });
}

test.each<[status: number, found: unknown[]]>([
  [401, [undefined, null, false, true, 0, '', 'admin', [], {}, { id: undefined }, { id: null }, { id: '' }]],
  [201, [ANNA, { id: 'anna' }, { ...ANNA, callerId: 'a' }]],
  [500, [{ id: 7 }, { id: { save() {} } }, { ...ANNA, callerId: () => {} }, { ...ANNA, callerId: '' }]],
])('a verifier lets in who has an id, which is a text: %i', async (status, found) => {
  const verify = vi.fn<(key: string) => unknown>();
  const { client, errors } = await startServer('memory', { apiKeys: { verify } as unknown as KeyVerifier });
  for (const holder of found) {
    verify.mockReturnValueOnce(holder);
    expect((await client.post(REX, { 'Idempotency-Key': 'k' })).status, String(holder)).toBe(status);
  }
  const fault = expect.objectContaining({ message: expect.stringMatching(/^the id or callerId .* must /) });
  expect(errors).toEqual(status === 500 ? found.map(() => fault) : []);
});

test('a verifier and a storage of keys that find nothing, or fail, let nobody in', async () => {
  for (const find of [async () => null, async () => true, async () => ({}), () => Promise.reject('x')]) {
    const wrap = (storage: Storage) => ({
      ...storage,
      apiKeys: { add: storage.apiKeys.add.bind(storage.apiKeys), find } as unknown as Storage['apiKeys'],
    });
    const { client } = await startServer('memory', { wrap });
    expect([401, 500]).toContain((await client.get('/v1/pets')).status);
  }
});

test('callbacks that throw, or whose promise is rejected, change no response and no create', async () => {
  noUnhandledRejection();
  const outcomes: RequestOutcome[] = [];
  const fail = () => {
    throw new Error('secret');
  };
  const failLater = () => Promise.reject(new Error('secret'));
  for (const call of [fail, failLater]) {
    const { client } = await startServer('memory', {
      observers: [{ onRequest: call, onError: call }, { onRequest: (outcome) => outcomes.push(outcome) }],
      apiKeys: { verify: async () => ANNA, hasPartOfKey: call } as unknown as KeyVerifier,
    });
    const fields = { 'X-Request-Id': crypto.randomUUID(), 'X-Forwarded-For': '192.0.2.1' };
    const { status, headers } = await client.post(REX, fields);
    expect(status).toBe(201);
    expect(headers['x-request-id']).not.toBe(fields['X-Request-Id']);
    expect((await client.get('/v1/nothing', fields)).status).toBe(404);
  }
  expect(outcomes.map(({ status, address }) => [status, address])).toEqual(
    [201, 404, 201, 404].map((status) => [status, '127.0.0.1']),
  );
});

test.each([
  ['rate_limited', undefined, '1'],
  ['rate_limited', 2.1, '3'],
  ['overloaded', undefined, '1'],
] as const)('the Retry-After of %s after %s s is %s', async (code, retryAfter, expected) => {
  const error = new AnimalStoreError(code, 'too many', retryAfter === undefined ? {} : { retryAfter });
  const { client } = await startServer('memory', { wrap: failingPets(error) });
  expect((await client.get('/v1/pets')).headers['retry-after']).toBe(expected);
});

test('an error whose members have other types is a 500', async () => {
  const wrong = Object.assign(new AnimalStoreError('overloaded', ''), { message: 5n });
  const { client } = await startServer('memory', { wrap: failingPets(wrong) });
  expect((await client.get('/v1/pets')).status).toBe(500);
  expect((await client.get('/readyz')).status).toBe(503);
});

test('a storage that is another program resolves with null where it finds nothing', async () => {
  const find = async () => null as unknown as undefined;
  const { client } = await startServer('memory', { wrap: (storage) => withPets(storage, { find }) });
  expect((await client.get('/v1/pets/1')).status).toBe(404);
});

test.each([
  ['unauthorized', 500],
  ['forbidden', 500],
  ['rate_limited', 503],
] as const)('what a store says of its own key is no fault of the client: %s', async (code, status) => {
  const error = new AnimalStoreError(code, 'about upstream.example.org', { retryAfter: 7 });
  const wrap = (storage: Storage) => ({
    ...failingPets(error)(storage),
    idempotentCreates: { add: () => Promise.reject(error) },
  });
  const { client } = await startServer('memory', { wrap });
  for (const response of [
    await client.get('/v1/pets'),
    await client.get('/v1/pets/1'),
    await client.post(REX),
    await client.post(REX, { 'Idempotency-Key': 'k' }),
  ]) {
    expect([response.status, response.body.includes('upstream')]).toEqual([status, false]);
    expect(response.headers['retry-after']).toBe(status === 503 ? '7' : undefined);
  }
});
