/** The use cases name the wrong argument. The tests of the library try every method with values of any type. */

import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';

const REX = { name: 'Rex', categoryId: 7n } as const;
const STRING_EXPECTED = 'expected a string, got 5';

/** The methods of a store, with arguments of any type. */
interface Untyped {
  readonly [name: string]: (...args: unknown[]) => unknown;
}

async function* batchesOf(...batches: unknown[]): AsyncGenerator<unknown> {
  yield* batches;
}

function read(pets: unknown): Promise<unknown> {
  return (pets as AsyncGenerator<unknown>).next();
}

test.each<[message: string, call: (store: Untyped, keys: Untyped) => unknown]>([
  ['unknown option statuz: expected status', (store) => read(store['exportPets']?.({ statuz: 'sold' }))],
  [
    'status must be one of available, pending, sold',
    (store) => read(store['exportPets']?.({ status: 'gone' })),
  ],
  ['unknown option statuz: expected', (store) => store['listPage']?.({ statuz: 'sold' })],
  ['unknown option statuz: expected status', (store) => read(store['listPets']?.({ statuz: 'sold' }))],
  [`file: ${STRING_EXPECTED}`, (store) => store['backup']?.(5)],
  ['unknown option replaced: expected', (store) => store['backup']?.('x.db', { replaced: true })],
  ['options: expected an object, got null', (store) => store['createPet']?.(REX, null)],
  ['unknown option key: expected idempotencyKey', (store) => store['createPet']?.(REX, { key: 'a' })],
  [`caller: ${STRING_EXPECTED}`, (store) => store['createPetOnce']?.(REX, 5, 'a')],
  [`key: ${STRING_EXPECTED}`, (store) => store['verifyApiKey']?.(5)],
  ['batches: expected an async iterable of arrays, got 5', (store) => store['importPets']?.(5)],
  [
    'batches: expected an async iterable of arrays, got 7',
    (store) => store['importPets']?.(batchesOf([REX], 7)),
  ],
  ['unknown option dry: expected', (store) => store['importPets']?.(batchesOf([REX]), { dry: true })],
  [`name: ${STRING_EXPECTED}`, (_, keys) => keys['create']?.(5)],
  [`name: ${STRING_EXPECTED}`, (_, keys) => keys['createFirst']?.(5)],
  ['save: expected a function, got 5', (_, keys) => keys['createFirst']?.('first', 5)],
  [`id: ${STRING_EXPECTED}`, (_, keys) => keys['rotate']?.(5, 0)],
  [`id: ${STRING_EXPECTED}`, (_, keys) => keys['revoke']?.(5)],
])('%s', async (message, call) => {
  const storage = { ...openMemoryStorage(), backup: () => Promise.resolve() };
  const store = new AnimalStore(storage);
  const [methods, keys] = [store, store.apiKeys] as readonly object[] as readonly [Untyped, Untyped];
  await expect((async () => call(methods, keys))()).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message),
  });
  expect((await store.listPage()).pets).toEqual([]);
  await store.close();
});
