/** The tests of how long an `IdempotentCreates` remembers its creates. */

import assert from 'node:assert/strict';
import { DAY } from '../application/ports/idempotent-creates.ts';
import { type ContractCase, contractCase, type Subject, twoClientCase } from './contract.ts';
import { attempt, type IdempotentStore } from './fixtures/attempts.ts';
import { samplePet, walk } from './fixtures/pets.ts';

export function idempotencyRecordsContract(subject: Subject<IdempotentStore>): ContractCase[] {
  return [...expiring(subject), ...removing(subject), ...promising(subject)];
}

function expiring(subject: Subject<IdempotentStore>): ContractCase[] {
  return [
    contractCase(
      subject,
      'a record is valid from exactly `validFrom`, and is ignored when it is older',
      async ({ pets, idempotentCreates }) => {
        const first = await idempotentCreates.add(samplePet('Rex'), attempt('a'));
        const { at } = attempt('a');
        const valid = { ...attempt('a', '1', at + 5000), validFrom: at };
        assert.deepEqual(await idempotentCreates.add(samplePet('Max'), valid), {
          pet: first.pet,
          isReplay: true,
        });
        const late = { ...valid, validFrom: at + 1 };
        const second = await idempotentCreates.add(samplePet('Max'), late);
        assert.equal(second.isReplay, false);
        assert.deepEqual(await idempotentCreates.add(samplePet('Max'), late), {
          pet: second.pet,
          isReplay: true,
        });
        assert.deepEqual(await walk(pets, { limit: 100 }), [first.pet, second.pet]);
        assert.equal(await idempotentCreates.count(), 1);
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
  ];
}

function removing(subject: Subject<IdempotentStore>): ContractCase[] {
  return [
    contractCase(
      subject,
      'the oldest records are removed first, at most `limit`, and their pets remain',
      async ({ pets, idempotentCreates }) => {
        for (const at of [1, 2, 3, 4]) {
          await idempotentCreates.add(samplePet(`pet ${at}`), attempt(`key ${at}`, '1', at * 1_000_000));
        }
        assert.equal(await idempotentCreates.removeRecords(3_000_000, 1), 1);
        assert.equal(await idempotentCreates.count(), 3);
        assert.equal(await idempotentCreates.removeRecords(3_000_000, 10), 1);
        assert.equal(await idempotentCreates.removeRecords(3_000_000, 10), 0);
        assert.equal(await idempotentCreates.count(), 2);
        assert.equal((await walk(pets, { limit: 100 })).length, 4);
        for (const [at, isReplay] of [
          [1, false],
          [2, false],
          [3, true],
          [4, true],
        ] as const) {
          const result = await idempotentCreates.add(samplePet('Rex'), {
            ...attempt(`key ${at}`),
            validFrom: 0,
          });
          assert.equal(result.isReplay, isReplay, `key ${at}`);
        }
      },
    ),

    contractCase(
      subject,
      'records from the future get the present time, at most `limit`, so that they are removed in time',
      async ({ idempotentCreates }) => {
        await idempotentCreates.add(samplePet('Rex'), attempt('past', '1', 1_000_000));
        const results = [];
        for (const key of ['a', 'b', 'c']) {
          results.push(await idempotentCreates.add(samplePet('Rex'), attempt(key, '1', 9_000_000)));
        }
        assert.equal(await idempotentCreates.redateRecords(2_000_000, 2), 2);
        assert.equal(await idempotentCreates.redateRecords(2_000_000, 2), 1);
        assert.equal(await idempotentCreates.redateRecords(2_000_000, 2), 0);
        const again = await idempotentCreates.add(samplePet('Rex'), attempt('a', '1', 2_000_000));
        assert.deepEqual(again, { pet: results[0]?.pet, isReplay: true });
        assert.equal(await idempotentCreates.removeRecords(2_000_000, 10), 1);
        assert.equal(await idempotentCreates.removeRecords(2_000_001, 10), 3);
        assert.equal(await idempotentCreates.count(), 0);
      },
    ),

    contractCase(subject, 'an empty store has no records to remove', async ({ idempotentCreates }) => {
      assert.equal(await idempotentCreates.count(), 0);
      assert.equal(await idempotentCreates.removeRecords(Date.now(), 10), 0);
      assert.equal(await idempotentCreates.redateRecords(Date.now(), 10), 0);
    }),
  ];
}

function promising(subject: Subject<IdempotentStore>): ContractCase[] {
  const now = Date.UTC(2030, 0, 1);
  return [
    contractCase(
      subject,
      'the largest number of days that is promised holds until nobody has repeated it for so long',
      async ({ idempotentCreates }) => {
        const promise = (days: number, after: number) =>
          idempotentCreates.promiseDays(days, now + after * DAY);
        assert.equal(await promise(1, 0), 1);
        assert.equal(await promise(30, 0), 30);
        for (const day of [0, 1, 20]) assert.equal(await promise(1, day), 30, `day ${day}`);
        assert.equal(await promise(30, 25), 30);
        assert.equal(await promise(7, 30), 30);
        assert.equal(await promise(1, 55), 30);
        // The promise of another client holds after the largest one has ended.
        assert.equal(await promise(7, 55), 30);
        assert.equal(await promise(1, 60), 7);
        assert.equal(await promise(1, 65), 1);
      },
    ),
    ...twoClientCase(subject, 'a promise of one client holds for another one', async (one, two) => {
      assert.equal(await one.idempotentCreates.promiseDays(90, now), 90);
      assert.equal(await two.idempotentCreates.promiseDays(1, now), 90);
    }),
  ];
}
