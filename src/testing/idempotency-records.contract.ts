/** The tests of how long an `IdempotentCreates` remembers its creates, and of `IdempotencyRecords`. */

import assert from 'node:assert/strict';
import { type ContractCase, contractCase, type Subject, twoClientCase } from './contract.ts';
import { attempt, type IdempotentStore } from './fixtures/attempts.ts';
import { samplePet, walk } from './fixtures/pets.ts';

export function idempotencyRecordsContract(subject: Subject<IdempotentStore>): ContractCase[] {
  return [...ending(subject), ...removing(subject)];
}

function ending(subject: Subject<IdempotentStore>): ContractCase[] {
  return [
    contractCase(
      subject,
      'a record is valid until exactly its end, and is replaced afterwards',
      async ({ pets, idempotentCreates, idempotencyRecords }) => {
        const first = await idempotentCreates.add(samplePet('Rex'), attempt('a'));
        const { validUntil } = attempt('a');
        const inTime = attempt('a', '1', validUntil);
        assert.deepEqual(await idempotentCreates.add(samplePet('Max'), inTime), {
          pet: first.pet,
          isReplay: true,
        });
        const late = attempt('a', '1', validUntil + 1);
        const second = await idempotentCreates.add(samplePet('Max'), late);
        assert.equal(second.isReplay, false);
        assert.deepEqual(await idempotentCreates.add(samplePet('Max'), late), {
          pet: second.pet,
          isReplay: true,
        });
        assert.deepEqual(await walk(pets, { limit: 100 }), [first.pet, second.pet]);
        assert.equal(await idempotencyRecords.count(), 1);
      },
    ),

    contractCase(
      subject,
      'a record from the future is valid, so that a clock that is set back creates no second pet',
      async ({ idempotentCreates }) => {
        const first = await idempotentCreates.add(samplePet('Rex'), attempt('a', '1', 9_000_000));
        const result = await idempotentCreates.add(samplePet('Rex'), attempt('a', '1', 1_000_000));
        assert.deepEqual(result, { pet: first.pet, isReplay: true });
      },
    ),

    ...twoClientCase(
      subject,
      'a record keeps its own end, whatever end another client sets for its records',
      async (long, short) => {
        const at = 1_000_000;
        const month = { ...attempt('a', '1', at), validUntil: at + 30_000 };
        const first = await long.idempotentCreates.add(samplePet('Rex'), month);
        await short.idempotentCreates.add(samplePet('Max'), attempt('b', '1', at));
        const later = at + 20_000;
        assert.equal(await short.idempotencyRecords.removeRecords(later, 10), 1);
        for (const { idempotentCreates } of [short, long]) {
          const result = await idempotentCreates.add(samplePet('Rex'), attempt('a', '1', later));
          assert.deepEqual(result, { pet: first.pet, isReplay: true });
        }
      },
    ),
  ];
}

function removing(subject: Subject<IdempotentStore>): ContractCase[] {
  return [
    contractCase(
      subject,
      'the records that ended first are removed first, at most `limit`, and their pets remain',
      async ({ pets, idempotentCreates, idempotencyRecords }) => {
        for (const [key, end] of Object.entries({ c: 3, a: 1, d: 4, b: 2 })) {
          await idempotentCreates.add(samplePet(key), { ...attempt(key, '1', 0), validUntil: end });
        }
        assert.equal(await idempotencyRecords.removeRecords(3, 1), 1);
        assert.equal(await idempotencyRecords.count(), 3);
        assert.equal(await idempotencyRecords.removeRecords(3, 10), 1);
        assert.equal(await idempotencyRecords.removeRecords(3, 10), 0);
        assert.equal(await idempotencyRecords.count(), 2);
        assert.equal((await walk(pets, { limit: 100 })).length, 4);
        const replays = [];
        for (const key of ['a', 'b', 'c', 'd']) {
          replays.push((await idempotentCreates.add(samplePet(key), attempt(key, '1', 0))).isReplay);
        }
        assert.deepEqual(replays, [false, false, true, true]);
      },
    ),

    contractCase(subject, 'an empty store has no records to remove', async ({ idempotencyRecords }) => {
      assert.equal(await idempotencyRecords.count(), 0);
      assert.equal(await idempotencyRecords.removeRecords(Date.now(), 10), 0);
    }),
  ];
}
