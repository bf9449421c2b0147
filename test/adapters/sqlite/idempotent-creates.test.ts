import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openReader } from '../../../src/adapters/sqlite/database.ts';
import { idempotentCreates } from '../../../src/adapters/sqlite/idempotent-creates.ts';
import { ReadSnapshot } from '../../../src/adapters/sqlite/read-snapshot.ts';
import { Writer } from '../../../src/adapters/sqlite/write/writer.ts';
import type { IdempotentCreates } from '../../../src/application/ports/idempotent-creates.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { openHealth, openStorage, temporaryFile } from './temporary-file.ts';

const attempt = (key: string, caller = '1', at = 1_000) => ({ caller, key, at, validFrom: at });

/** The creates of a store in which each caller may have `limit` records. */
function openLimited(path: string, limit: number): IdempotentCreates {
  const health = openHealth(path);
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db, health);
  const writer = new Writer(health, () => snapshot.forgetVersion());
  onTestFinished(async () => {
    await writer.close();
    snapshot.close();
    db.close();
  });
  return idempotentCreates(db, snapshot, writer, limit);
}

/** Adds records of a caller directly to the file. */
function addRecords(path: string, caller: string, count: number, prefix = 'key') {
  connect(path)
    .prepare(
      `INSERT INTO idempotency_records WITH RECURSIVE numbers (n) AS (
        VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) SELECT ?, ? || ' ' || n, 1, 1000 FROM numbers`,
    )
    .run(count, caller, prefix);
}

test('a caller that has as many records as allowed is refused, and others are not', async () => {
  const path = temporaryFile();
  // The records are counted in steps of 10,000.
  const idempotentCreates = openLimited(path, 20_002);
  addRecords(path, '1', 20_000);
  connect(path).exec("UPDATE idempotency_records SET created_at = 0 WHERE key = 'key 15000'");
  const add = (key: string, caller?: string) => idempotentCreates.add(samplePet('Rex'), attempt(key, caller));
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((key) => add(key)));
  expect(results).toMatchObject([
    { value: { isReplay: false } },
    { value: { isReplay: false } },
    { reason: { code: 'rate_limited', message: expect.stringContaining('20002 idempotency keys') } },
    { reason: { code: 'rate_limited' } },
  ]);
  expect((await add('a')).isReplay).toBe(true);
  const later = { ...attempt('c'), at: 90_000, validFrom: -10_000 };
  await expect(idempotentCreates.add(samplePet('Rex'), later)).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfter: 10 + 120,
  });
  expect((await add('b', '2')).isReplay).toBe(false);
  expect(await idempotentCreates.count()).toBe(20_003);
  expect(connect(path).prepare('SELECT count(*) FROM pets').pluck().get()).toBe(3n);
});

test('a caller that has reached the limit is counted again after a minute', async () => {
  const path = temporaryFile();
  const idempotentCreates = openLimited(path, 5);
  addRecords(path, '1', 5);
  const add = (key: string) => idempotentCreates.add(samplePet('Rex'), attempt(key));
  await expect(add('a')).rejects.toMatchObject({ code: 'rate_limited' });
  connect(path).exec("DELETE FROM idempotency_records WHERE key = 'key 1'");
  // The snapshot of the reads ends with this turn of the event loop.
  await nextTurn();
  await expect(add('a')).rejects.toMatchObject({ code: 'rate_limited' });
  const now = performance.now();
  using clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000);
  expect((await add('a')).isReplay).toBe(false);
  expect(clock).toHaveBeenCalled();
});

test('records that another process adds count after the next count', async () => {
  const path = temporaryFile();
  const idempotentCreates = openLimited(path, 10);
  const add = (key: string) => idempotentCreates.add(samplePet('Rex'), attempt(key));
  addRecords(path, '1', 5);
  await add('first');
  addRecords(path, '1', 20, 'other');
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => add(`more ${index}`)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
});

test('when all ids have been assigned, nothing is stored', async () => {
  const path = temporaryFile();
  const { idempotentCreates, pets } = openStorage(path);
  const insert = connect(path).prepare("INSERT INTO pets VALUES (9223372036854775807, 'Rex', 1, 'sold')");
  insert.run();
  await expect(idempotentCreates.add(samplePet('Rex'), attempt('a'))).rejects.toMatchObject({
    reason: 'ids_exhausted',
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
