/** What may take long has its own deadline, whatever `query_timeout` of the URL is. */

import type { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { examinePostgresStore } from '../../../src/adapters/postgres/index.ts';
import { LOCK } from '../../../src/adapters/postgres/schema.ts';
import { type Clock, stopClock, until } from '../../support/clock.ts';
import { canRunPostgres, connect, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { openStorage, openStore, withTimeout } from './database.ts';

/** Milliseconds. */
const TIMEOUT = 200;

/** Resolves when a statement has waited for a lock for longer than `TIMEOUT`, by the clocks of the server and the client. */
async function untilLate(client: Client, clock: Clock): Promise<void> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND clock_timestamp() - query_start > $1 * interval '1 millisecond'`;
  await until(async () => (await client.query(sql, [2 * TIMEOUT])).rowCount === 1);
  clock.pass(2 * TIMEOUT);
}

/** Calls a function while another transaction holds a lock, until it is late, and then ends the transaction. */
async function whileLocked<T>(url: string, lock: string, call: () => Promise<T>): Promise<T> {
  const [holder, observer] = [await connect(url), await connect(url)];
  await holder.query(`BEGIN; ${lock}`);
  const clock = stopClock();
  const result = call();
  result.catch(() => {});
  await Promise.race([untilLate(observer, clock), result]);
  await holder.query('COMMIT');
  return await result;
}

describe.skipIf(!canRunPostgres)(`with a short query_timeout${postgresNote}`, () => {
  test('the start waits for the start of another server', async () => {
    const url = await newDatabaseUrl();
    const lock = `SELECT pg_advisory_xact_lock(${LOCK})`;
    await whileLocked(url, lock, () => openStorage(withTimeout(url, TIMEOUT)));
    expect(await (await openStorage(url)).apiKeys.list()).toEqual([]);
  });

  test('an examination counts for as long as it takes', async () => {
    const { url, storage } = await openStore();
    onTestFinished(() => storage.close());
    const lock = 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE';
    const { pets, problems } = await whileLocked(url, lock, () =>
      examinePostgresStore(withTimeout(url, TIMEOUT)),
    );
    expect({ pets, errors: problems.filter(({ severity }) => severity === 'error') }).toEqual({
      pets: 0,
      errors: [],
    });
  });
});
