/** The tests (contract cases) that every `IdempotentCreates` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { assertFrozen, type ContractCase, contractCases, type Subject, twoClientCases } from './contract.ts';
import { attempt, type IdempotentStore } from './fixtures/attempts.ts';
import { assertAscending, byId, labelOf, samplePet, UNUSUAL_NAMES, walk } from './fixtures/pets.ts';
import { idempotencyRecordsContract } from './idempotency-records.contract.ts';

/** Returns all tests that an `IdempotentCreates` must pass. */
export function idempotentCreatesContract(subject: Subject<IdempotentStore>): ContractCase[] {
  return [...adding(subject), ...idempotencyRecordsContract(subject), ...twoClients(subject)];
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

    'each caller has its own keys, and upper and lower case differ': async ({
      pets,
      idempotentCreates,
      idempotencyRecords,
    }) => {
      const attempts = [
        attempt('a', '1'),
        attempt('a', '2'),
        attempt('A', '1'),
        attempt('a', ''),
        attempt('a', 'a a'),
        attempt('1', 'a'),
      ];
      for (const each of attempts) {
        assert.equal((await idempotentCreates.add(samplePet('Rex'), each)).isReplay, false);
      }
      for (const each of attempts) {
        assert.equal((await idempotentCreates.add(samplePet('Rex'), each)).isReplay, true);
      }
      assert.equal((await walk(pets, { limit: 100 })).length, attempts.length);
      assert.equal(await idempotencyRecords.count(), attempts.length);
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
      for (const pet of results)
        assert.deepEqual(
          pet,
          stored.find(({ id }) => id === pet.id),
        );
      const labels = keys.map((key, index) => labelOf(samplePet(key, index)));
      assert.deepEqual([...new Set(results.map(labelOf))].sort(), labels.sort());
    },
  });
}
