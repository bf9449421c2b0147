/** The tests (contract cases) that every `IdempotentCreates` must pass, for any test runner. */

import assert from 'node:assert/strict';
import {
  assertFrozen,
  type ContractCase,
  contractCase,
  contractCases,
  type Opened,
  type Subject,
  twoClientCases,
} from './contract.ts';
import { attempt, type IdempotentStore } from './fixtures/attempts.ts';
import { HOUR } from './fixtures/keys.ts';
import { assertAscending, byId, labelOf, samplePet, UNUSUAL_NAMES, walk } from './fixtures/pets.ts';

/** Returns all tests that an `IdempotentCreates` must pass. Without `idempotencyRecords`, they skip the checks that need it. */
export function idempotentCreatesContract(subject: Subject<IdempotentStore>): ContractCase[] {
  return [...adding(subject), ...timeCases(subject), ...twoClients(subject)];
}

function adding(subject: Subject<IdempotentStore>): ContractCase[] {
  return contractCases(subject, {
    'the first attempt stores the pet': async ({ pets, idempotentCreates }) => {
      for (const name of UNUSUAL_NAMES) {
        const input = samplePet(name, -7n);
        const { pet, isReplay } = await idempotentCreates.add(input, attempt(name));
        assert.equal(isReplay, false);
        assert.deepEqual({ ...pet }, { id: pet.id, ...input });
        assertFrozen(pet, 'the pet of a create');
        assert.deepEqual(await pets.find(pet.id), pet);
      }
      assertAscending(await walk(pets, { limit: 100 }));
    },

    'each caller has its own keys, and upper and lower case differ': async (store) => {
      const { pets, idempotentCreates, idempotencyRecords } = store;
      const attempts = [
        attempt('a', '1'),
        attempt('a', '2'),
        attempt('A', '1'),
        attempt('a', ''),
        attempt('a', 'a a'),
        attempt('1', 'a'),
        ...[attempt('1a', '1'), attempt('a', '11'), attempt('a1', '1')], // equal pairs when concatenated
      ];
      for (const isReplay of [false, true]) {
        for (const each of attempts)
          assert.equal((await idempotentCreates.add(samplePet('Rex'), each)).isReplay, isReplay);
        assert.equal((await idempotencyRecords?.removeRecords(10)) ?? 0, 0, 'no record has ended');
      }
      assert.equal((await walk(pets, { limit: 100 })).length, attempts.length);
      assert.equal((await idempotencyRecords?.count()) ?? attempts.length, attempts.length);
    },

    'of 50 concurrent attempts with one key, one stores its pet': async ({ pets, idempotentCreates }) => {
      const others = Array.from({ length: 50 }, (_, index) => pets.add(samplePet(`other ${index}`)));
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          idempotentCreates.add(samplePet(`pet ${index}`), attempt('a')),
        ),
      );
      const [first, ...more] = results.filter(({ isReplay }) => !isReplay);
      assert.ok(first, 'expected a result of the first call');
      assert.deepEqual(more, []);
      for (const { pet } of results) assert.deepEqual(pet, first.pet);
      const stored = [...(await Promise.all(others)), first.pet].sort(byId);
      assert.deepEqual(await walk(pets, { limit: 100 }), stored);
    },
  });
}

function twoClients(subject: Subject<IdempotentStore>): ContractCase[] {
  return twoClientCases(subject, {
    'two clients that use the same keys at the same time store one pet for each key': async (one, two) => {
      const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
      const results = await Promise.all(
        keys.flatMap((key, index) =>
          [one, two].map(({ idempotentCreates }) =>
            idempotentCreates.add(samplePet(key, index), attempt(key)).then(({ pet }) => pet),
          ),
        ),
      );
      const stored = await walk(one.pets, { limit: 100 });
      assert.equal(stored.length, keys.length);
      const found = results.map(({ id }) => stored.find((pet) => pet.id === id));
      assert.deepEqual(results, found);
      const labels = keys.map((key, index) => labelOf(samplePet(key, index))).flatMap((each) => [each, each]);
      assert.deepEqual(results.map(labelOf), labels);
    },
  });
}

/** The cases that need to move the clock of the storage. */
function timeCases(subject: Subject<IdempotentStore>): ContractCase[] {
  const { openSecond, moveClock } = subject;
  if (moveClock === undefined) return [];
  const timeCase = (
    name: string,
    body: (opened: Opened<IdempotentStore>, pass: (hours: number) => Promise<void>) => Promise<void>,
  ): ContractCase =>
    contractCase(subject, name, (_, opened) =>
      body(opened, async (hours) => moveClock(opened, hours * HOUR)),
    );
  const cases = [
    timeCase('a record is valid until its end, and is replaced afterwards', async ({ port }, pass) => {
      const { pets, idempotentCreates, idempotencyRecords } = port;
      const add = (name: string) => idempotentCreates.add(samplePet(name), attempt('a'));
      const first = await add('Rex');
      await pass(23);
      assert.deepEqual(await add('Max'), { pet: first.pet, isReplay: true });
      await pass(2);
      const second = await add('Max');
      assert.equal(second.isReplay, false);
      assert.deepEqual(await add('Max'), { pet: second.pet, isReplay: true });
      assert.deepEqual(await walk(pets, { limit: 100 }), [first.pet, second.pet]);
      assert.equal((await idempotencyRecords?.count()) ?? 1, 1);
    }),

    timeCase('a clock that is set back creates no second pet', async ({ port }, pass) => {
      const add = () => port.idempotentCreates.add(samplePet('Rex'), attempt('a'));
      const { pet } = await add();
      await pass(-48);
      assert.deepEqual(await add(), { pet, isReplay: true });
    }),

    timeCase('ended records are removed, at most as many as the limit says', async ({ port }, pass) => {
      const { idempotentCreates, idempotencyRecords } = port;
      if (idempotencyRecords === undefined) return;
      for (const [key, hours] of Object.entries({ a: 5, b: 50, c: 1, d: 3 }))
        await idempotentCreates.add(samplePet(key), attempt(key, '1', hours));
      await pass(10);
      assert.equal(await idempotencyRecords.removeRecords(2), 2);
      assert.equal(await idempotencyRecords.removeRecords(2), 1);
      assert.equal(await idempotencyRecords.count(), 1);
      assert.equal((await idempotentCreates.add(samplePet('b'), attempt('b'))).isReplay, true);
    }),
  ];
  if (openSecond === undefined) return cases;
  return [
    ...cases,
    timeCase(
      'a record keeps its own end, whatever validity another client sets for its records',
      async (opened, pass) => {
        const second = await openSecond(opened);
        const [long, short] = [opened.port, second.port];
        try {
          const first = await long.idempotentCreates.add(samplePet('Rex'), attempt('a', '1', 30));
          await short.idempotentCreates.add(samplePet('Max'), attempt('b', '1', 1));
          await pass(20);
          assert.equal((await short.idempotencyRecords?.removeRecords(10)) ?? 1, 1);
          for (const { idempotentCreates } of [short, long]) {
            const result = await idempotentCreates.add(samplePet('Rex'), attempt('a', '1', 1));
            assert.deepEqual(result, { pet: first.pet, isReplay: true });
          }
        } finally {
          await second.close();
        }
      },
    ),
  ];
}
