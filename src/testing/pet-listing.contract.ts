/** The tests (contract cases) of `PetRepository` for listing pets. */

import assert from 'node:assert/strict';
import type { PetRepository } from '../application/ports/pet-repository.ts';
import { PET_STATUSES, type Pet } from '../domain/pet.ts';
import { assertFrozen, type ContractCase, contractCase, type Subject } from './contract.ts';
import {
  addAll,
  assertAscending,
  assertPage,
  samplePet,
  samplePets,
  walk,
  whileWriting,
} from './fixtures/pets.ts';

export function listingPets(subject: Subject<PetRepository>): ContractCase[] {
  return [...pages(subject), ...walks(subject)];
}

function pages(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a list of an empty store is empty', async (pets) => {
      await assertPage(pets, { limit: 20 }, [], false);
      for (const status of PET_STATUSES) await assertPage(pets, { limit: 20, status }, [], false);
    }),

    contractCase(subject, 'pages and their pets are frozen', async (pets) => {
      const added = await pets.add(samplePet('Rex'));
      const page = await pets.list({ limit: 20 });
      for (const object of [page, page.pets, ...page.pets])
        assertFrozen(object, 'a page, its list and each of its pets');
      assert.throws(() => (page.pets as Pet[]).pop(), TypeError);
      await assertPage(pets, { limit: 20 }, [added], false);
    }),

    contractCase(subject, 'a page does not change when pets are added afterwards', async (pets) => {
      const added = await addAll(pets, samplePets(3));
      const page = await pets.list({ limit: 5 });
      await addAll(pets, samplePets(3));
      assert.deepEqual(page.pets, added);
      assert.equal(page.more, false);
      assert.equal((await pets.list({ limit: 5 })).more, true);
    }),
  ];
}

function walks(subject: Subject<PetRepository>): ContractCase[] {
  return [
    ...[undefined, ...PET_STATUSES].map((status) =>
      contractCase(
        subject,
        `pages visit every pet that existed before once while pets are added (status: ${status ?? 'all'})`,
        async (pets) => {
          const before = await addAll(pets, samplePets(100));
          const expected = before.filter((pet) => status === undefined || pet.status === status);
          const visited = await whileWriting(pets, () =>
            walk(pets, { limit: 17, status }, before.length + 50),
          );
          assertAscending(visited);
          assert.deepEqual(visited.slice(0, expected.length), expected);
        },
      ),
    ),
  ];
}
