/** The tests (contract cases) that every `PetRepository` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { listQuery } from '../application/list-pets.ts';
import type { PetRepository } from '../application/ports/pet-repository.ts';
import { matches } from '../domain/pet-filter.ts';
import {
  assertFrozen,
  type ContractCase,
  contractCase,
  contractCases,
  lastingCase,
  type Subject,
  twoClientCases,
} from './contract.ts';
import { FEW_FILTERS, filterablePets, filtersOf, SAMPLE_FILTERS } from './fixtures/filters.ts';
import {
  addAll,
  assertAscending,
  assertPage,
  byId,
  samplePet,
  samplePets,
  UNUSUAL_NAMES,
  walk,
  whileWriting,
} from './fixtures/pets.ts';
import { withoutId } from './fixtures/transfers.ts';

/**
 * Returns all tests that a `PetRepository` must pass.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 * import { openMemoryStorage } from 'animal-store/memory';
 * import { petRepositoryContract } from 'animal-store/testing';
 *
 * const cases = petRepositoryContract({
 *   open: async () => ({ port: openMemoryStorage().pets, close: async () => {} }),
 * });
 * for (const { name, run } of cases) test(name, run);
 * ```
 */
export function petRepositoryContract(subject: Subject<PetRepository>): ContractCase[] {
  return [
    ...storing(subject),
    ...pages(subject),
    ...walks(subject),
    ...twoClients(subject),
    ...lasting(subject),
  ];
}

function storing(subject: Subject<PetRepository>): ContractCase[] {
  return contractCases(subject, {
    'a read that starts after an add was acknowledged sees the pet': async (pets) => {
      for (const newPet of samplePets(20)) {
        await pets.list({ limit: 100 });
        const pet = await pets.add(newPet);
        assert.deepEqual(await pets.find(pet.id), pet);
        assert.deepEqual((await pets.list({ limit: 100 })).pets.at(-1), pet);
      }
    },

    'unusual text is stored exactly': async (pets) => {
      for (const name of UNUSUAL_NAMES) {
        const given = samplePet(name);
        const pet = await pets.add(given);
        assert.deepEqual({ ...pet }, { id: pet.id, ...given });
        assert.deepEqual(await pets.find(pet.id), pet);
      }
      const { pets: listed } = await pets.list({ limit: 100 });
      const expected = UNUSUAL_NAMES.map((name) => samplePet(name));
      assert.deepEqual(listed.map(withoutId), expected);
    },

    '1,000 concurrent adds get distinct ids, and all pets are stored': async (pets) => {
      const newPets = samplePets(1000);
      const added = await Promise.all(newPets.map((newPet) => pets.add(newPet)));
      for (const [index, { id, ...pet }] of added.entries())
        assert.deepEqual(pet, newPets[index], `id ${id}`);
      const stored = added.toSorted(byId);
      assertAscending(stored);
      assert.deepEqual(await walk(pets, { limit: 100 }), stored);
      assertAscending([...stored, await pets.add(samplePet('next'))]);
    },

    'changing the input after the call does not change the stored pet, which is frozen': async (pets) => {
      const given = samplePet('Rex');
      const input = { ...given };
      const adding = pets.add(input);
      Object.assign(input, samplePet('Max', 2n));
      const pet = await adding;
      assert.deepEqual({ ...pet }, { id: pet.id, ...given });
      const found = await pets.find(pet.id);
      assert.deepEqual(found, pet);
      for (const each of [pet, found]) assertFrozen(each, 'an added and a found pet');
    },
  });
}

function twoClients(subject: Subject<PetRepository>): ContractCase[] {
  return twoClientCases(subject, {
    'a pet added by one client is seen by another one': async (one, two, eventually) => {
      for (const writer of [one, two]) {
        const reader = writer === one ? two : one;
        await reader.list({ limit: 100 });
        const pet = await writer.add(samplePet('Rex', 2n));
        await eventually(async () => (await reader.find(pet.id)) !== undefined);
        assert.deepEqual(await reader.find(pet.id), pet);
        for (const filter of filtersOf(pet))
          assert.deepEqual((await reader.list({ ...filter, limit: 100 })).pets.at(-1), pet);
      }
    },

    'two clients that add at the same time get no id twice': async (one, two) => {
      const added = await Promise.all([addAll(one, samplePets(25)), addAll(two, samplePets(25))]);
      for (const ofOne of added) assertAscending(ofOne);
      assertAscending(added.flat().sort(byId));
    },
  });
}

function lasting(subject: Subject<PetRepository>): ContractCase[] {
  return lastingCase(
    subject,
    'an empty store can be reopened',
    (pets) => pets.list({ limit: 1 }),
    async (pets) => {
      await assertPage(pets, { limit: 20 }, [], false);
      const pet = await pets.add(samplePet('Rex'));
      await assertPage(pets, { limit: 20 }, [pet], false);
    },
  );
}

function pages(subject: Subject<PetRepository>): ContractCase[] {
  return contractCases(subject, {
    'pages and their pets are frozen': async (pets) => {
      await pets.add(samplePet('Rex'));
      const page = await pets.list({ limit: 20 });
      for (const object of [page, page.pets, page.pets[0]])
        assertFrozen(object, 'a page, its list and each of its pets');
    },

    'equal queries and those with another filter get their pages, which are empty at first': async (pets) => {
      for (const filter of SAMPLE_FILTERS) await assertPage(pets, { ...filter, limit: 2 }, [], false);
      const added = await addAll(pets, filterablePets(30));
      for (const filter of [...SAMPLE_FILTERS, ...SAMPLE_FILTERS]) {
        const found = added.filter((pet) => matches(pet, filter));
        await assertPage(pets, { ...filter, limit: 2 }, found.slice(0, 2), found.length > 2);
        await assertPage(pets, { ...filter, limit: Math.max(found.length, 1) }, found, false);
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
