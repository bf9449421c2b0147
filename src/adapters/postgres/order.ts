/**
 * The order of ids is the order in which pets become visible: whoever draws an id holds this lock until the end of the
 * transaction, also while it waits for a standby. Each schema has a lock of its own.
 */

import type { ClientConfig } from 'pg';
import { withClient } from './config.ts';
import { detailed } from './errors.ts';

const LOCK = "pg_advisory_xact_lock(7301, 'pets'::regclass::oid::int)";

/** A part of a `WITH` clause. PostgreSQL leaves it out of a statement that does not read from `ordered`. */
export const ORDER: string = `ordered AS MATERIALIZED (SELECT ${LOCK})`;

/** Takes the lock for the rest of a transaction. */
export const TAKE_ORDER: string = `SELECT ${LOCK}`;

const SEQUENCE =
  "SELECT seqcache::int AS cache, seqincrement::int AS increment FROM pg_sequence WHERE seqrelid = 'pets_id_seq'::regclass";

/** Resolves with a warning for each feature of PostgreSQL that the order needs, and that does not work here. */
export async function orderWarningsOf(config: ClientConfig): Promise<readonly string[]> {
  const warnings: string[] = [];
  const check = async (what: string, isMet: () => Promise<boolean>): Promise<void> => {
    const reason = await isMet().then(
      (met) => (met ? undefined : ''),
      (error: unknown) => `: ${detailed(error)}`,
    );
    if (reason === undefined) return;
    warnings.push(`${what}${reason}: a client that follows the ids of new pets can miss some of them`);
  };
  await withClient(config, async (client) => {
    await check('the sequence pets_id_seq must have the cache size 1 and the increment 1', async () => {
      const [row] = (await client.query<{ cache: number; increment: number }>(SEQUENCE)).rows;
      return row?.cache === 1 && row.increment === 1;
    });
    await check('the database must have snapshots', async () => {
      const { rows } = await client.query('SELECT pg_current_snapshot()');
      return rows.length === 1;
    });
    await check('an advisory lock must exclude other transactions', () =>
      withClient(config, async (other) => {
        // The id of the process makes this lock another one than that of each other check.
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
        await client.query('BEGIN');
        await client.query('SELECT pg_advisory_xact_lock(7302, $1)', [rows[0].pid]);
        const text = 'SELECT pg_try_advisory_xact_lock(7302, $1) AS taken';
        return (await other.query(text, [rows[0].pid])).rows[0].taken === false;
      }),
    );
  });
  return warnings;
}
