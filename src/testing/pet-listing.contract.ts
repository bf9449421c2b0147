/** The tests (contract cases) of `PetRepository` for listing pets. */

import assert from 'node:assert/strict';
import type { PetRepository } from '../application/ports/pet-repository.ts';
import { INT64_MAX, INT64_MIN } from '../domain/int64.ts';
import { PET_STATUSES, type Pet } from '../domain/pet.ts';
import { type ContractCase, contractCase, type Subject } from './contract.ts';
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
  return [...pages(subject), ...statuses(subject), ...walks(subject)];
}

function pages(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a list of an empty store is empty', async (pets) => {
      await assertPage(pets, { limit: 20 }, [], false);
      for (const status of PET_STATUSES) await assertPage(pets, { limit: 20, status }, [], false);
    }),

    contractCase(subject, 'a page has at most `limit` pets, and says whether more match', async (pets) => {
      const added = await addAll(pets, samplePets(5));
      await assertPage(pets, { limit: 1 }, added.slice(0, 1), true);
      await assertPage(pets, { limit: 4 }, added.slice(0, 4), true);
      await assertPage(pets, { limit: 5 }, added, false);
      await assertPage(pets, { limit: 6 }, added, false);
    }),

    contractCase(subject, 'a page starts after the given id', async (pets) => {
      const added = await addAll(pets, samplePets(5));
      const [first, second] = added as [Pet, Pet];
      await assertPage(pets, { limit: 2, after: first.id }, added.slice(1, 3), true);
      await assertPage(pets, { limit: 3, after: second.id }, added.slice(2), false);
      for (const after of [INT64_MIN, -1n, 0n]) await assertPage(pets, { limit: 5, after }, added, false);
    }),

    contractCase(subject, 'a page after the last id is empty', async (pets) => {
      const [last] = (await addAll(pets, samplePets(3))).slice(-1) as [Pet];
      for (const after of [last.id, last.id + 1n, 2n ** 53n, INT64_MAX - 1n, INT64_MAX]) {
        await assertPage(pets, { limit: 5, after }, [], false);
        await assertPage(pets, { limit: 5, after, status: last.status }, [], false);
      }
    }),

    contractCase(subject, 'pages and their pets are frozen', async (pets) => {
      const added = await pets.add(samplePet('Rex'));
      const page = await pets.list({ limit: 20 });
      for (const object of [page, page.pets, ...page.pets]) assert.ok(Object.isFrozen(object));
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

function statuses(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a list of one status has only pets with that status', async (pets) => {
      const added = await addAll(pets, samplePets(30));
      for (const status of PET_STATUSES) {
        const matching = added.filter((pet) => pet.status === status);
        assert.ok(matching.length > 3);
        await assertPage(pets, { limit: 100, status }, matching, false);
        await assertPage(pets, { limit: matching.length, status }, matching, false);
        await assertPage(pets, { limit: 2, status }, matching.slice(0, 2), true);
        const after = matching[1]?.id;
        await assertPage(pets, { limit: 2, status, after }, matching.slice(2, 4), matching.length > 4);
      }
    }),

    contractCase(subject, 'a pet with another status does not count as a further match', async (pets) => {
      const added = await addAll(pets, [
        samplePet('a', 'sold'),
        samplePet('b', 'sold'),
        samplePet('c', 'pending'),
      ]);
      await assertPage(pets, { limit: 2, status: 'sold' }, added.slice(0, 2), false);
      await assertPage(pets, { limit: 5, status: 'available' }, [], false);
    }),
  ];
}

function walks(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'pages of any limit visit every pet once, in order', async (pets) => {
      const added = await addAll(pets, samplePets(47));
      for (const limit of [1, 2, 7, 46, 47, 48, 100]) {
        assert.deepEqual(await walk(pets, { limit }), added);
        for (const status of PET_STATUSES) {
          assert.deepEqual(
            await walk(pets, { limit, status }),
            added.filter((pet) => pet.status === status),
          );
        }
      }
    }),

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
