/** Imports and exports of a store. `import-pets.test.ts` has the rules of an import. */

import { beforeEach, expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

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
  expect(await collect(without.exportPets())).toEqual([]);
  for (let count = 0; count < 250; count++) await store.createPet(REX);
  const batches = await collect(without.exportPets());
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect((await collect(store.exportPets())).flat()).toEqual(batches.flat());
  const pet = { ...REX, id: 7n };
  Object.assign(storage.transfer ?? {}, { exportPets: () => batchesOf([pet]) });
  expect(await collect(store.exportPets())).toEqual([[pet]]);
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
