/** The contract of `PetRepository`, as cases for any test runner. */

import assert from 'node:assert/strict';
import type { PetRepository } from '../application/ports.ts';
import { INT64_MAX, INT64_MIN } from '../domain/int64.ts';
import { PET_STATUSES, type Pet, type PetStatus } from '../domain/pet.ts';
import { type ContractCase, contractCase, lastingCase, type Subject } from './contract.ts';
import { addAll, animal, animals, assertAscending, assertPage, byId, walk, whileWriting } from './pets.ts';

const UNUSUAL_NAMES = [
  ' ',
  '  Rex\t',
  'line\nbreak\r\n',
  '\u0001\u007f\u0085\ufeff\uffff',
  '🐈‍⬛ 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'e\u0301 and \u00e9, not normalised',
  'Z\u0351\u036b\u0343a\u0368\u034al\u0334g\u0321o\u0489',
  'كلب \u202e‮ כלב \u2066\u2069',
  `'; DROP TABLE pets; --`,
  `"'\`\\%_?$1 :name @x`,
  '{"name":"Rex"}<script>&amp;',
  'null',
  '007',
  '𝕽'.repeat(255),
  'ß'.repeat(255),
];

/** Every case that an adapter must pass, over the way to get at it. */
export function petRepositoryContract(subject: Subject<PetRepository>): ContractCase[] {
  return [...adding(subject), ...reading(subject), ...walking(subject), ...lasting(subject)];
}

function adding(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'an animal is given back as it was added, with an id', async (pets) => {
      const pet = await pets.add(animal('Rex', 'pending', -7n));
      assert.equal(typeof pet.id, 'bigint');
      assert.deepEqual({ ...pet }, { id: pet.id, name: 'Rex', categoryId: -7n, status: 'pending' });
    }),

    contractCase(subject, 'the first id is positive, and every later one is greater', async (pets) => {
      let last = 0n;
      for (const { id } of await addAll(pets, animals(10))) {
        assert.ok(id > last);
        last = id;
      }
    }),

    contractCase(subject, 'an animal can be read as soon as it was added', async (pets) => {
      for (const newPet of animals(20)) {
        await pets.list({ limit: 100 });
        const pet = await pets.add(newPet);
        assert.deepEqual(await pets.find(pet.id), pet);
        const { pets: listed } = await pets.list({ limit: 100 });
        assert.deepEqual(listed.at(-1), pet);
      }
    }),

    contractCase(subject, 'a category can be any int64, and is kept exactly', async (pets) => {
      for (const categoryId of [INT64_MIN, -(2n ** 53n) - 1n, -1n, 0n, 1n, 2n ** 53n + 1n, INT64_MAX]) {
        const pet = await pets.add(animal('Rex', 'available', categoryId));
        assert.equal(pet.categoryId, categoryId);
        assert.equal((await pets.find(pet.id))?.categoryId, categoryId);
        assert.equal((await pets.list({ limit: 1, after: pet.id - 1n })).pets[0]?.categoryId, categoryId);
      }
    }),

    contractCase(subject, 'an unusual name is kept exactly', async (pets) => {
      for (const name of UNUSUAL_NAMES) {
        const pet = await pets.add(animal(name));
        assert.equal(pet.name, name);
        assert.equal((await pets.find(pet.id))?.name, name);
      }
      const { pets: listed } = await pets.list({ limit: 100 });
      assert.deepEqual(
        listed.map(({ name }) => name),
        UNUSUAL_NAMES,
      );
    }),

    contractCase(subject, '1,000 adds at once get ids in the order of the calls', async (pets) => {
      const added = await Promise.all(animals(1000).map((newPet) => pets.add(newPet)));
      assertAscending(added);
      assert.deepEqual(
        added.map(({ name }) => name),
        animals(1000).map(({ name }) => name),
      );
      assert.deepEqual(await walk(pets, { limit: 100 }), added);
    }),

    contractCase(subject, 'racing writers get ids of their own', async (pets) => {
      const racers = Array.from({ length: 20 }, () => addAll(pets, animals(25)));
      const added = await Promise.all(racers);
      for (const ofOne of added) assertAscending(ofOne);
      assert.deepEqual(await walk(pets, { limit: 100 }), added.flat().sort(byId));
    }),

    contractCase(subject, 'what becomes of the input after the call does not matter', async (pets) => {
      const input = { name: 'Rex', categoryId: 1n, status: 'available' as PetStatus };
      const adding = pets.add(input);
      Object.assign(input, { name: 'Max', categoryId: 2n, status: 'sold' });
      const pet = await adding;
      assert.deepEqual({ ...pet }, { id: pet.id, name: 'Rex', categoryId: 1n, status: 'available' });
      assert.deepEqual(await pets.find(pet.id), pet);
    }),
  ];
}

function reading(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'an empty store has nothing', async (pets) => {
      assert.equal(await pets.find(1n), undefined);
      await assertPage(pets, { limit: 20 }, [], false);
      for (const status of PET_STATUSES) await assertPage(pets, { limit: 20, status }, [], false);
    }),

    contractCase(subject, 'an id that nobody has finds nothing', async (pets) => {
      const { id } = await pets.add(animal('Rex'));
      for (const unknown of [INT64_MIN, -id, 0n, id - 1n, id + 1n, 2n ** 53n, INT64_MAX]) {
        assert.equal(await pets.find(unknown), undefined, `found ${unknown}`);
      }
    }),

    contractCase(subject, 'a page ends at the limit and tells whether there are more', async (pets) => {
      const added = await addAll(pets, animals(5));
      await assertPage(pets, { limit: 1 }, added.slice(0, 1), true);
      await assertPage(pets, { limit: 4 }, added.slice(0, 4), true);
      await assertPage(pets, { limit: 5 }, added, false);
      await assertPage(pets, { limit: 6 }, added, false);
    }),

    contractCase(subject, 'a page starts after the id it is told', async (pets) => {
      const added = await addAll(pets, animals(5));
      const [first, second] = added as [Pet, Pet];
      await assertPage(pets, { limit: 2, after: first.id }, added.slice(1, 3), true);
      await assertPage(pets, { limit: 3, after: second.id }, added.slice(2), false);
      for (const after of [INT64_MIN, -1n, 0n]) await assertPage(pets, { limit: 5, after }, added, false);
    }),

    contractCase(subject, 'after the last id there is nothing, up to the greatest int64', async (pets) => {
      const [last] = (await addAll(pets, animals(3))).slice(-1) as [Pet];
      for (const after of [last.id, last.id + 1n, 2n ** 53n, INT64_MAX - 1n, INT64_MAX]) {
        await assertPage(pets, { limit: 5, after }, [], false);
        await assertPage(pets, { limit: 5, after, status: last.status }, [], false);
      }
    }),

    contractCase(subject, 'only animals of the status that is asked for are listed', async (pets) => {
      const added = await addAll(pets, animals(30));
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

    contractCase(subject, 'an animal of another status is not among the more', async (pets) => {
      const added = await addAll(pets, [animal('a', 'sold'), animal('b', 'sold'), animal('c', 'pending')]);
      await assertPage(pets, { limit: 2, status: 'sold' }, added.slice(0, 2), false);
      await assertPage(pets, { limit: 5, status: 'available' }, [], false);
    }),

    contractCase(subject, 'what is given back is frozen', async (pets) => {
      const added = await pets.add(animal('Rex'));
      const found = await pets.find(added.id);
      const page = await pets.list({ limit: 20 });
      for (const given of [added, found, page, page.pets, ...page.pets]) assert.ok(Object.isFrozen(given));
      for (const pet of [added, found, page.pets[0]]) {
        assert.throws(() => Object.assign(pet as object, { name: 'Max' }), TypeError);
      }
      assert.throws(() => (page.pets as Pet[]).pop(), TypeError);
      assert.equal((await pets.find(added.id))?.name, 'Rex');
      await assertPage(pets, { limit: 20 }, [added], false);
    }),

    contractCase(subject, 'a page stays as it was, whatever is added afterwards', async (pets) => {
      const added = await addAll(pets, animals(3));
      const page = await pets.list({ limit: 5 });
      await addAll(pets, animals(3));
      assert.deepEqual(page.pets, added);
      assert.equal(page.more, false);
      assert.equal((await pets.list({ limit: 5 })).more, true);
    }),
  ];
}

function walking(subject: Subject<PetRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a walk with any limit gives every animal once, in order', async (pets) => {
      const added = await addAll(pets, animals(47));
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
        `a walk among ${status ?? 'all'} gives what was there once, while a writer adds`,
        async (pets) => {
          const before = await Promise.all(animals(250).map((newPet) => pets.add(newPet)));
          const expected = before.filter((pet) => status === undefined || pet.status === status);
          const pages = await whileWriting(pets, () =>
            walk(pets, { limit: 37, status }, before.length + 200),
          );
          assertAscending(pages);
          assert.deepEqual(pages.slice(0, expected.length), expected);
          const ids = new Set(before.map(({ id }) => id));
          assert.equal(pages.filter(({ id }) => ids.has(id)).length, expected.length);
        },
      ),
    ),
  ];
}

function lasting(subject: Subject<PetRepository>): ContractCase[] {
  return [
    ...lastingCase(
      subject,
      'everything is there again after reopening, exactly',
      (pets) =>
        addAll(pets, [
          ...UNUSUAL_NAMES.map((name) => animal(name)),
          ...[INT64_MIN, INT64_MAX, 2n ** 53n + 1n].map((category) => animal('Rex', 'sold', category)),
        ]),
      async (pets, added) => {
        assert.deepEqual(await walk(pets, { limit: 7 }), added);
        for (const pet of added) assert.deepEqual(await pets.find(pet.id), pet);
      },
    ),

    ...lastingCase(
      subject,
      'ids go on after reopening',
      (pets) => addAll(pets, animals(5)),
      async (pets, added) => assertAscending([...added, ...(await addAll(pets, animals(5)))]),
    ),

    ...lastingCase(
      subject,
      'an empty store can be reopened',
      (pets) => pets.list({ limit: 1 }),
      async (pets) => {
        await assertPage(pets, { limit: 20 }, [], false);
        const pet = await pets.add(animal('Rex'));
        await assertPage(pets, { limit: 20 }, [pet], false);
      },
    ),
  ];
}
