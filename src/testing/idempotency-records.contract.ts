/** The tests of how long an `IdempotentCreates` remembers its creates, and of `IdempotencyRecords`. */

import assert from 'node:assert/strict';
import { type ContractCase, contractCase, type Subject, twoClientCase } from './contract.ts';
import { attempt, type IdempotentStore } from './fixtures/attempts.ts';
import { samplePet, walk } from './fixtures/pets.ts';

export function idempotencyRecordsContract(subject: Subject<IdempotentStore>): ContractCase[] {
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
