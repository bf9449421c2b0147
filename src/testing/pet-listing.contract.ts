/** The tests (contract cases) of `PetRepository` for listing pets. */

import assert from 'node:assert/strict';
import { listQuery } from '../application/list-pets.ts';
import type { PetRepository } from '../application/ports/pet-repository.ts';
import type { Pet } from '../domain/pet.ts';
import { matches } from '../domain/pet-filter.ts';
import { assertFrozen, type ContractCase, contractCase, contractCases, type Subject } from './contract.ts';
import { FEW_FILTERS, filterablePets, SAMPLE_FILTERS } from './fixtures/filters.ts';
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
  return contractCases(subject, {
    'a list of an empty store is empty': async (pets) => {
      await assertPage(pets, { limit: 20 }, [], false);
      for (const filter of SAMPLE_FILTERS) await assertPage(pets, { ...filter, limit: 20 }, [], false);
    },

    'pages and their pets are frozen': async (pets) => {
      const added = await pets.add(samplePet('Rex'));
      const page = await pets.list({ limit: 20 });
      for (const object of [page, page.pets, ...page.pets])
        assertFrozen(object, 'a page, its list and each of its pets');
      assert.throws(() => (page.pets as Pet[]).pop(), TypeError);
      await assertPage(pets, { limit: 20 }, [added], false);
    },

    'a page does not change when pets are added afterwards': async (pets) => {
      const added = await addAll(pets, samplePets(3));
      const page = await pets.list({ limit: 5 });
      await addAll(pets, samplePets(3));
      assert.deepEqual(page.pets, added);
      assert.equal(page.more, false);
      assert.equal((await pets.list({ limit: 5 })).more, true);
    },

    'equal queries and those with another filter get their pages': async (pets) => {
      const added = await addAll(pets, filterablePets(30));
      for (const filter of [...SAMPLE_FILTERS, ...SAMPLE_FILTERS]) {
        const found = added.filter((pet) => matches(pet, filter));
        await assertPage(pets, { ...filter, limit: 2 }, found.slice(0, 2), found.length > 2);
        await assertPage(
          pets,
          { ...filter, limit: 2, after: found[1]?.id ?? added.at(-1)?.id },
          found.slice(2, 4),
          found.length > 4,
        );
      }
    },
  });
}

function walks(subject: Subject<PetRepository>): ContractCase[] {
  return FEW_FILTERS.map((filter) => {
    const query = { ...filter, limit: 7 };
    const name = `pages visit every pet that existed before once while pets are added (${listQuery(query)})`;
    return contractCase(subject, name, async (pets) => {
      const before = await addAll(pets, filterablePets(100));
      const expected = before.filter((pet) => matches(pet, filter));
      const visited = await whileWriting(pets, () => walk(pets, query, before.length + 50));
      assertAscending(visited);
      assert.deepEqual(visited.slice(0, expected.length), expected);
    });
  });
}
