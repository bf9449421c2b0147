import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { connect, openStorage, temporaryFile } from './temporary-file.ts';

const attempt = (key: string, caller = '1', at = 1_000) => ({ caller, key, at, validFrom: at });

test('a caller with 1,000,000 records is refused, and others are not', async () => {
  const path = temporaryFile();
  await openStorage(path).idempotentCreates.add(samplePet('Rex'), attempt('a'));
  connect(path).prepare('UPDATE idempotency_counts SET records = ?').run(1_000_000n);
  const { idempotentCreates, pets } = openStorage(path);
  await expect(idempotentCreates.add(samplePet('Rex'), attempt('b'))).rejects.toMatchObject({
    code: 'overloaded',
  });
  expect((await idempotentCreates.add(samplePet('Rex'), attempt('a'))).isReplay).toBe(true);
  expect((await idempotentCreates.add(samplePet('Rex'), attempt('b', '2'))).isReplay).toBe(false);
  expect((await pets.list({ limit: 100 })).pets).toHaveLength(2);
  connect(path).prepare('UPDATE idempotency_counts SET records = ?').run(999_999n);
  // The snapshot of the reads ends with this turn of the event loop.
  await nextTurn();
  expect((await idempotentCreates.add(samplePet('Rex'), attempt('b'))).isReplay).toBe(false);
  await expect(idempotentCreates.add(samplePet('Rex'), attempt('c'))).rejects.toMatchObject({
    code: 'overloaded',
  });
});

test('when all ids have been assigned, nothing is stored', async () => {
  const path = temporaryFile();
  const { idempotentCreates, pets } = openStorage(path);
  const insert = connect(path).prepare("INSERT INTO pets VALUES (9223372036854775807, 'Rex', 1, 'sold')");
  insert.run();
  await expect(idempotentCreates.add(samplePet('Rex'), attempt('a'))).rejects.toMatchObject({
    code: 'storage_unavailable',
  });
  expect(await idempotentCreates.count()).toBe(0);
  expect((await pets.list({ limit: 100 })).pets).toHaveLength(1);
});

test('counts the records of each caller', async () => {
  const path = temporaryFile();
  const { idempotentCreates } = openStorage(path);
  for (const [key, caller] of [
    ['a', '1'],
    ['b', '1'],
    ['a', '2'],
  ] as const) {
    await idempotentCreates.add(samplePet('Rex'), attempt(key, caller));
    await idempotentCreates.add(samplePet('Rex'), attempt(key, caller));
  }
  await idempotentCreates.add(samplePet('Rex'), attempt('b', '1', 2_000));
  const counts = connect(path)
    .prepare('SELECT caller, records FROM idempotency_counts ORDER BY caller')
    .raw();
  expect(counts.all()).toEqual([
    ['1', 2n],
    ['2', 1n],
  ]);
  expect(await idempotentCreates.removeRecords(1_500, 10)).toBe(2);
  expect(counts.all()).toEqual([['1', 1n]]);
});

test('the search for old records reads no other records', () => {
  const path = temporaryFile();
  openStorage(path);
  const plan = connect(path)
    .prepare(
      `EXPLAIN QUERY PLAN SELECT caller, key FROM idempotency_records
        WHERE created_at < 5 ORDER BY created_at LIMIT 5`,
    )
    .all();
  expect(plan).toEqual([
    expect.objectContaining({
      detail: 'SEARCH idempotency_records USING COVERING INDEX idempotency_records_by_age (created_at<?)',
    }),
  ]);
});
