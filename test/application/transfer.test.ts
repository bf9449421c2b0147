/** Exports of a store. `import-pets.test.ts` has the rules of an import. */

import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import { inBatches } from '../../src/testing/fixtures/transfers.ts';
import { REX } from '../support/pets.ts';

test('an export is that of the storage, or reads page by page', async () => {
  const storage = openMemoryStorage();
  const store = new AnimalStore(storage);
  const { pets, check, close } = storage;
  const without = new AnimalStore({ pets, check, close });
  expect(await Array.fromAsync(without.exportPets())).toEqual([]);
  for (let count = 0; count < 250; count++) await store.createPet(REX);
  const batches = await Array.fromAsync(without.exportPets());
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect((await Array.fromAsync(store.exportPets())).flat()).toEqual(batches.flat());
  const pet = { ...REX, id: 7n };
  Object.assign(storage.transfer, { exportPets: () => inBatches([pet]) });
  expect(await Array.fromAsync(store.exportPets())).toEqual([[pet]]);
});
