import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect } from '../../support/sqlite.ts';
import { openStorage, temporaryFile } from './temporary-file.ts';

test('many records are counted in several turns of the event loop', async () => {
  const path = temporaryFile();
  const { idempotencyRecords } = openStorage(path);
  connect(path).exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
    INSERT INTO idempotency_records (caller, key, pet_id, valid_until) SELECT i % 3, 'key-' || i, i, i FROM n`);
  let [turns, isCounting] = [0, true];
  const counted = idempotencyRecords.count().finally(() => {
    isCounting = false;
  });
  for (; isCounting; turns++) await nextTurn();
  expect(await counted).toBe(25_000);
  expect(turns).toBeGreaterThanOrEqual(3);
});
