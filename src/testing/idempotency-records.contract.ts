/** The tests of how long an `IdempotentCreates` remembers its creates, and of `IdempotencyRecords`. */

import assert from 'node:assert/strict';
import { type ContractCase, contractCase, type Opened, type Subject } from './contract.ts';
import { attempt, type IdempotentStore } from './fixtures/attempts.ts';
import { HOUR } from './fixtures/keys.ts';
import { samplePet, walk } from './fixtures/pets.ts';

export function idempotencyRecordsContract(subject: Subject<IdempotentStore>): ContractCase[] {
  return [
    contractCase(subject, 'no record is removed before its end', async (store) => {
      const { idempotentCreates, idempotencyRecords } = store;
      const first = await idempotentCreates.add(samplePet('Rex'), attempt('a'));
      assert.equal(await idempotencyRecords.removeRecords(10), 0);
      const result = await idempotentCreates.add(samplePet('Rex'), attempt('a'));
      assert.deepEqual(result, { pet: first.pet, isReplay: true });
    }),
    ...timeCases(subject),
  ];
}

/** The cases that need to move the clock of the storage. */
function timeCases({ open, openSecond, moveClock }: Subject<IdempotentStore>): ContractCase[] {
  if (moveClock === undefined) return [];
  const timeCase = (
    name: string,
    body: (opened: Opened<IdempotentStore>, pass: (hours: number) => Promise<void>) => Promise<void>,
  ): ContractCase => ({
    name,
    async run() {
      const opened = await open();
      const pass = async (hours: number) => moveClock(opened, hours * HOUR);
      await body(opened, pass).finally(() => opened.close());
    },
  });
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
      assert.equal(await idempotencyRecords.count(), 1);
    }),

    timeCase('a clock that is set back creates no second pet', async ({ port }, pass) => {
      const { idempotentCreates } = port;
      const first = await idempotentCreates.add(samplePet('Rex'), attempt('a'));
      await pass(-48);
      const result = await idempotentCreates.add(samplePet('Rex'), attempt('a'));
      assert.deepEqual(result, { pet: first.pet, isReplay: true });
    }),

    timeCase('ended records are removed, at most as many as the limit says', async ({ port }, pass) => {
      const { idempotentCreates, idempotencyRecords } = port;
      for (const [key, hours] of [
        ['a', 5],
        ['b', 50],
        ['c', 1],
        ['d', 3],
      ] as const)
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
          assert.equal(await short.idempotencyRecords.removeRecords(10), 1);
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
