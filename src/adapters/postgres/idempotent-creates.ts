import { DAY, type IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { exactlyOnce, type Records } from '../storage-kit/exactly-once.ts';
import type { ConnectionPool, ResultRow } from './connection-pool.ts';
import type { Creates } from './creates.ts';
import { ORDER } from './order.ts';
import { COLUMNS, petOf } from './pets.ts';
import type { Read } from './reads.ts';

const FIND = `SELECT ${COLUMNS} FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = $1 AND key = $2 AND created_at >= $3)`;
const COUNT = 'SELECT count(*) FROM idempotency_records';
const COUNT_OF = 'SELECT count(*), min(created_at) FROM idempotency_records WHERE caller = $1';

/** The SELECT does not see the row that this statement inserts. */
const PROMISE = `WITH own AS (
    INSERT INTO idempotency_promises AS promise (days, ends_at) VALUES ($1, $2::bigint + ($1 + 1) * ${DAY}::bigint)
    ON CONFLICT (days) DO UPDATE SET ends_at = excluded.ends_at
      WHERE promise.ends_at NOT BETWEEN excluded.ends_at - ${DAY} AND excluded.ends_at
  )
  SELECT greatest($1, max(days)) FROM idempotency_promises WHERE ends_at >= $2`;

/** A record that a create has renewed since the statement began is not removed. */
export const REMOVE: string = `WITH ${ORDER} DELETE FROM idempotency_records
  WHERE created_at < $1 AND (caller, key) IN (
    SELECT caller, key FROM ordered, idempotency_records WHERE created_at < $1 ORDER BY created_at LIMIT $2)
  RETURNING 1`;
export const REDATE: string = `WITH ${ORDER} UPDATE idempotency_records SET created_at = $1
  WHERE created_at > $1 AND (caller, key) IN (
    SELECT caller, key FROM ordered, idempotency_records WHERE created_at > $1 LIMIT $2)
  RETURNING 1`;

/** @param perDay the maximum number of records of one caller for each day that records are valid */
export function idempotentCreates(
  read: Read,
  creates: Creates,
  connections: ConnectionPool,
  perDay?: number,
): IdempotentCreates {
  async function readSlowly(text: string, values?: unknown[]): Promise<ResultRow> {
    using session = await connections.openSession(true);
    const [row = []] = await session.run(text, values);
    return row;
  }

  const records: Records = {
    async countOf(caller) {
      const [count, oldestAt] = await readSlowly(COUNT_OF, [caller]);
      return { count: Number(count), oldestAt: oldestAt === null ? undefined : Number(oldestAt) };
    },
    countTimeout: connections.waitTimeout,
    claim: (pet, attempt) => creates.addCreate({ pet, attempt }),
    async find({ caller, key, validFrom }) {
      const [row] = await read({ name: 'find-record', text: FIND, values: [caller, key, validFrom] });
      return row && petOf(row);
    },
  };

  return {
    add: exactlyOnce(records, perDay),
    async promiseDays(days, now) {
      const [row = []] = await connections.write(PROMISE, [days, now]);
      return Number(row[0]);
    },
    count: async () => Number((await readSlowly(COUNT))[0]),
    removeRecords: async (createdBefore, most) =>
      (await connections.write(REMOVE, [createdBefore, most])).length,
    redateRecords: async (now, most) => (await connections.write(REDATE, [now, most])).length,
  };
}
