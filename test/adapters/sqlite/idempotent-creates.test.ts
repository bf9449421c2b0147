import { expect, test } from 'vitest';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, temporaryFile } from './temporary-file.ts';

const attempt = (key: string, caller = '1', at = 1_000) => ({ caller, key, at, validFrom: at });

/** Adds records of a caller directly to the file. */
function addRecords(path: string, caller: string, count: number, prefix = 'key') {
  connect(path)
    .prepare(
      `INSERT INTO idempotency_records WITH RECURSIVE numbers (n) AS (
        VALUES (0) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) SELECT ?, ? || ' ' || n, 1, 1000 FROM numbers WHERE n > 0`,
    )
    .run(count, caller, prefix);
}

test.each([0, 1, 9999, 10_000, 10_001, 20_000])('%i records are counted in steps', async (count) => {
  const path = temporaryFile();
  const { idempotentCreates } = openStorage(path);
  addRecords(path, '1', Math.floor(count / 3));
  addRecords(path, '2', count - Math.floor(count / 3));
  expect(await idempotentCreates.count()).toBe(count);
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
