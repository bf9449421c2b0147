/** Imports and exports of a store. `import-pets.test.ts` has the rules of an import. */

import { beforeEach, expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { PET_FILTERS } from '../../src/domain/pet-filter.ts';
import { filterablePets, SAMPLE_FILTERS } from '../../src/testing/fixtures/filters.ts';
import { addAll } from '../../src/testing/fixtures/pets.ts';
import { REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

/** So many that each filter by one attribute has several pages. */
const PETS = 900;

let storage: Storage;
let store: AnimalStore;

beforeEach(() => {
  storage = openMemoryStorage();
  store = new AnimalStore(storage);
});

async function* batchesOf<T>(...batches: T[][]): AsyncGenerator<T[]> {
  yield* batches;
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

test('an export is that of the storage, or reads page by page', async () => {
  const { pets, check, close } = storage;
  const without = new AnimalStore({ pets, check, close });
  for (let count = 0; count < 250; count++) await store.createPet(REX);
  const batches = await collect(without.exportPets());
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect((await collect(store.exportPets())).flat()).toEqual(batches.flat());
  const pet = { ...REX, id: 7n };
  Object.assign(storage.transfer ?? {}, { exportPets: () => batchesOf([pet]) });
  expect(await collect(store.exportPets())).toEqual([[pet]]);
});

test('an export has all pets that match, and no others', async () => {
  const { transfer: _, ...withoutTransfer } = storage;
  const all = await addAll(storage.pets, filterablePets(PETS));
  for (const filter of SAMPLE_FILTERS) {
    const expected = all.filter((pet) =>
      PET_FILTERS.every((name) => [undefined, pet[name]].includes(filter[name])),
    );
    for (const each of [store, new AnimalStore(withoutTransfer)])
      expect((await collect(each.exportPets(filter))).flat()).toEqual(expected);
  }
});

test.each(PET_FILTERS)('a filter of an export by %s must be a valid value', async (name) => {
  for (const value of [null, {}] as never[])
    await expect(store.exportPets({ [name]: value }).next()).rejects.toThrow(
      refusal(new RegExp(`^${name} must `)),
    );
});

test('an export refuses an option that does not exist, a time that is no time, and an aborted signal', async () => {
  const misspelt = store.exportPets({ stauts: 'sold' } as never).next();
  await expect(misspelt).rejects.toThrow(refusal(/^unknown option stauts: expected/));
  await expect(store.exportPets({}, { timeout: 0 }).next()).rejects.toThrow(
    refusal(/^timeout: expected a number of milliseconds/),
  );
  const aborted = { signal: AbortSignal.abort(new Error('enough')) };
  await expect(store.exportPets({}, aborted).next()).rejects.toThrow('enough');
});

test('a storage without imports refuses them by name', async () => {
  const { pets, check, close } = storage;
  await expect(new AnimalStore({ pets, check, close }).importPets(batchesOf([REX]))).rejects.toThrow(
    refusal('import is not supported by this storage'),
  );
});

test('after close, imports and exports reject with storage_unavailable', async () => {
  await store.close();
  for (const call of [() => store.importPets(batchesOf([REX])), () => store.exportPets().next()])
    await expect(call()).rejects.toThrow(refusal('the store is closed', 'storage_unavailable'));
});

test('a signal ends an export that waits for its storage, and an import that waits for its source', async () => {
  const never = () => new Promise<never>(() => {});
  const stalled = { [Symbol.asyncIterator]: () => ({ next: never, return: never }) };
  const transfer = { ...storage.transfer, exportPets: () => stalled };
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Promise.allSettled([
    new AnimalStore({ ...storage, transfer }).exportPets({}, { signal }).next(),
    store.importPets(stalled, { signal }),
  ]);
  const reason = new Error('no longer needed');
  setImmediate(() => controller.abort(reason));
  for (const call of await calls) expect(call).toEqual({ status: 'rejected', reason });
});
