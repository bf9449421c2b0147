/**
 * The order of ids is the order in which pets become visible: whoever draws an id holds this lock until the end of the
 * transaction, also while it waits for a standby. Each schema has a lock of its own.
 */

import type { Client, ClientConfig } from 'pg';
import { withClient } from './config.ts';
import { detailed } from './errors.ts';

const LOCK = "pg_advisory_xact_lock(7301, 'pets'::regclass::oid::int)";

/** A part of a `WITH` clause. PostgreSQL leaves it out of a statement that does not read from `ordered`. */
export const ORDER: string = `ordered AS MATERIALIZED (SELECT ${LOCK})`;

/** Takes the lock for the rest of a transaction. */
export const TAKE_ORDER: string = `SELECT ${LOCK}`;

const SEQUENCE =
  "SELECT 1 FROM pg_sequence WHERE seqrelid = 'pets_id_seq'::regclass AND seqcache = 1 AND seqincrement = 1";

/** What the order needs, and how to find out whether two connections have it. The id of the process makes a lock unique. */
const NEEDS: Readonly<Record<string, (one: Client, other: Client) => Promise<boolean>>> = {
  'the sequence pets_id_seq must have the cache size 1 and the increment 1': async (one) =>
    (await one.query(SEQUENCE)).rowCount === 1,
  'the database must have snapshots': async (one) =>
    (await one.query('SELECT pg_current_snapshot()')).rowCount === 1,
  async 'an advisory lock must exclude other transactions'(one, other) {
    const { rows } = await one.query('SELECT pg_backend_pid() AS pid');
    await one.query('BEGIN');
    await one.query('SELECT pg_advisory_xact_lock(7302, $1)', [rows[0].pid]);
    const taken = await other.query('SELECT pg_try_advisory_xact_lock(7302, $1) AS taken', [rows[0].pid]);
    return taken.rows[0].taken === false;
  },
};

/** Resolves with a warning for each need that is not met. Draws no id, and waits for no create. */
export async function orderWarningsOf(config: ClientConfig): Promise<readonly string[]> {
  const warnings: string[] = [];
  const check = async (one: Client, other: Client): Promise<void> => {
    for (const [need, isMet] of Object.entries(NEEDS)) {
      const found = await isMet(one, other).catch((error: unknown) => detailed(error));
      const reason = typeof found === 'string' ? `${need}: ${found}` : need;
      if (found !== true)
        warnings.push(`${reason}: a client that follows the ids of new pets can miss some of them`);
    }
  };
  await withClient(config, (one) => withClient(config, (other) => check(one, other)));
  return warnings;
}
