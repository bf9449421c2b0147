import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { connect, openStorage, temporaryFile } from './temporary-file.ts';

const attempt = (key: string, caller = '1', at = 1_000) => ({ caller, key, at, validFrom: at });

/** Adds records of a caller directly to the file. */
function addRecords(path: string, caller: string, count: number) {
  connect(path)
    .prepare(
      `INSERT INTO idempotency_records WITH RECURSIVE numbers (n) AS (
        VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) SELECT ?, 'key ' || n, 1, 1000 FROM numbers`,
    )
    .run(count, caller);
}

test('a caller with 1,000,000 records is refused, and others are not', async () => {
  const path = temporaryFile();
  await openStorage(path).idempotentCreates.add(samplePet('Rex'), attempt('a'));
  addRecords(path, '1', 999_998);
  const { idempotentCreates, pets } = openStorage(path);
  const add = (key: string, caller?: string) => idempotentCreates.add(samplePet('Rex'), attempt(key, caller));
  const results = await Promise.allSettled(['b', 'c', 'd'].map((key) => add(key)));
  expect(results).toMatchObject([
    { value: { isReplay: false } },
    { reason: { code: 'overloaded', message: expect.stringContaining('1000000 idempotency keys') } },
    { reason: { code: 'overloaded' } },
  ]);
  expect((await add('a')).isReplay).toBe(true);
  expect((await add('b')).isReplay).toBe(true);
  await expect(add('c')).rejects.toMatchObject({ code: 'overloaded' });
  expect((await add('b', '2')).isReplay).toBe(false);
  expect((await pets.list({ limit: 100 })).pets).toHaveLength(3);
});

test('a caller that has reached the limit is counted again after a minute', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  addRecords(path, '1', 1_000_000);
  const add = (key: string) => storage.idempotentCreates.add(samplePet('Rex'), attempt(key));
  await expect(add('a')).rejects.toMatchObject({ code: 'overloaded' });
  connect(path).prepare("DELETE FROM idempotency_records WHERE key LIKE 'key 1%'").run();
  // The snapshot of the reads ends with this turn of the event loop.
  await nextTurn();
  await expect(add('a')).rejects.toMatchObject({ code: 'overloaded' });
  const now = performance.now();
  using clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000);
  expect((await add('a')).isReplay).toBe(false);
  expect(clock).toHaveBeenCalled();
});

test('records that another process adds count after the next count', async () => {
  const path = temporaryFile();
  const { idempotentCreates } = openStorage(path);
  const add = (key: string) => idempotentCreates.add(samplePet('Rex'), attempt(key));
  addRecords(path, '1', 999_000);
  await add('first');
  connect(path)
    .prepare(
      "INSERT INTO idempotency_records SELECT '1', 'other ' || key, 1, 1 FROM idempotency_records LIMIT 2000",
    )
    .run();
  const results = await Promise.allSettled(Array.from({ length: 1500 }, (_, index) => add(`more ${index}`)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(999);
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
