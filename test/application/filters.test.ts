/** Calls that read several pages pass the whole filter on to each of them. */

import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/storage.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { PET_FILTERS } from '../../src/domain/pet-filter.ts';
import { filterablePets, SAMPLE_FILTERS } from '../../src/testing/fixtures/filters.ts';
import { addAll } from '../../src/testing/fixtures/pets.ts';
import { refusal } from '../support/refusal.ts';

/** So many that each filter by one attribute has several pages. */
const PETS = 900;

test('lists, exports and followers have all pets that match, and no others', async () => {
  const storage = openMemoryStorage();
  const store = new AnimalStore(storage);
  const { transfer: _, ...withoutTransfer } = storage;
  const all = await addAll(storage.pets, filterablePets(PETS));
  for (const filter of SAMPLE_FILTERS) {
    const expected = all.filter((pet) =>
      PET_FILTERS.every((name) => [undefined, pet[name]].includes(filter[name])),
    );
    // Options can be inherited.
    expect(await Array.fromAsync(store.listPets(Object.create(filter)))).toEqual(expected);
    for (const each of [store, new AnimalStore(withoutTransfer)])
      expect((await Array.fromAsync(each.exportPets(Object.create(filter)))).flat()).toEqual(expected);
    const followed: Pet[] = [];
    if (expected.length === 0) continue;
    for await (const pet of store.followPets(Object.create(filter)))
      if (followed.push(pet) === expected.length) break;
    expect(followed).toEqual(expected);
  }
});

test.each(PET_FILTERS)('a filter by %s must be a valid value', async (name) => {
  const store = new AnimalStore(openMemoryStorage());
  for (const value of [null, {}] as never[]) {
    const filter = { [name]: value };
    for (const call of [
      () => store.listPage(filter),
      () => store.listPets(filter).next(),
      () => store.followPets(filter).next(),
      () => store.exportPets(filter).next(),
    ])
      await expect(call()).rejects.toThrow(refusal(new RegExp(`^${name} must `)));
  }
});

test.runIf(PET_FILTERS.length > 0)('each filter that is not valid is named', async () => {
  const store = new AnimalStore(openMemoryStorage());
  const filter = Object.fromEntries(PET_FILTERS.map((name) => [name, null])) as never;
  const message = new RegExp(`^${PET_FILTERS.map((name) => `${name} must .+`).join('; ')}$`);
  for (const call of [() => store.listPage(filter), () => store.exportPets(filter).next()])
    await expect(call()).rejects.toThrow(refusal(message));
});
