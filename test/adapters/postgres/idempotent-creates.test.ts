import { describe, expect, onTestFinished, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import { ConnectionPool } from '../../../src/adapters/postgres/connection-pool.ts';
import { groupedCreates } from '../../../src/adapters/postgres/creates.ts';
import { idempotentCreates } from '../../../src/adapters/postgres/idempotent-creates.ts';
import { TAKE_ORDER } from '../../../src/adapters/postgres/order.ts';
import { readsOver } from '../../../src/adapters/postgres/reads.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';
import type { IdempotentCreates } from '../../../src/application/ports/idempotent-creates.ts';
import { canRunPostgres, connect, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { attemptWith, openStorage, REX, untilBlocked, withTimeout } from './database.ts';

/** Opens a storage of records with a limit for each caller. */
async function openWithLimit(url: string, limit: number): Promise<IdempotentCreates> {
  await openStorage(url);
  const config = clientConfig(url);
  const faults = new KnownFaults<'read' | 'write'>(['read', 'write'], {});
  const connections = new ConnectionPool(config, { max: 3 });
  const claims = groupedCreates(connections, faults, {});
  onTestFinished(async () => {
    await claims.close();
    await connections.close();
  });
  return idempotentCreates(readsOver(connections, faults), claims, connections, limit);
}

describe.skipIf(!canRunPostgres)(`idempotent creates on PostgreSQL${postgresNote}`, () => {
  test('a caller with too many records is refused, and still gets its pets; other callers are not refused', async () => {
    const url = await newDatabaseUrl();
    const timed = (key: string) => ({ ...attemptWith(key), at: 1_000_000, validFrom: 940_000 });
    const creates = await openWithLimit(url, 3);
    for (const key of ['a', 'b', 'c']) expect((await creates.add(REX, timed(key))).isReplay).toBe(false);
    await expect(creates.add(REX, timed('d'))).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfter: 180,
      message: expect.stringContaining('has used 3 idempotency keys'),
    });
    expect((await creates.add(REX, timed('b'))).isReplay).toBe(true);
    expect((await creates.add(REX, { ...timed('d'), caller: '2' })).isReplay).toBe(false);
    expect(await creates.count()).toBe(4);
    // Another storage counts the records that exist.
    const other = await openWithLimit(url, 3);
    await expect(other.add(REX, timed('d'))).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfter: 180,
    });
  });

  test('a slow count of the records ends a create at its deadline', async () => {
    const url = await newDatabaseUrl();
    const creates = await openWithLimit(withTimeout(url, 500), 1000);
    const admin = await connect(url);
    await admin.query('BEGIN; LOCK TABLE idempotency_records');
    await expect(creates.add(REX, attemptWith('a'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'counting the idempotency keys of this API key takes long: nothing was stored',
    });
    await admin.query('ROLLBACK');
    await expect
      .poll(() => creates.add(REX, attemptWith('a')).catch(() => undefined))
      .toMatchObject({
        isReplay: false,
      });
    expect(await creates.count()).toBe(1);
  });

  test('records are removed and redated in the order of the creates: a renewed record remains', async () => {
    const url = await newDatabaseUrl();
    const creates = await openWithLimit(url, 1000);
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) {
      await creates.add(REX, { caller: '1', key, at: index + 1, validFrom: 0 });
    }
    for (const [change, key, renewedAt, left] of [
      [() => creates.removeRecords(3, 10), 'a', 9, [3, 4, 9]],
      [() => creates.redateRecords(3, 10), 'd', 3, [3, 3, 3]],
    ] as const) {
      const other = await connect(url);
      await other.query(`BEGIN; ${TAKE_ORDER}`);
      const changing = change();
      await untilBlocked(other);
      const renew = 'UPDATE idempotency_records SET created_at = $1 WHERE key = $2';
      await other.query(renew, [renewedAt, key]);
      await other.query('COMMIT');
      expect(await changing).toBe(1);
      const { rows } = await other.query('SELECT created_at::int FROM idempotency_records ORDER BY 1');
      expect(rows.map(({ created_at }) => created_at)).toEqual(left);
    }
  });
});
