import { DAY, type IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Creates } from './creates.ts';
import { ORDER } from './order.ts';
import { COLUMNS, petOf } from './pets.ts';
import type { Read } from './reads.ts';

const FIND = `SELECT ${COLUMNS} FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = $1 AND key = $2 AND created_at >= $3)`;
const COUNT = 'SELECT count(*) FROM idempotency_records';

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

export function idempotentCreates(
  read: Read,
  creates: Creates,
  connections: ConnectionPool,
): IdempotentCreates {
  return {
    add: exactlyOnce({
      claim: (pet, attempt) => creates.addCreate({ pet, attempt }),
      async find({ caller, key, validFrom }) {
        const [row] = await read({ name: 'find-record', text: FIND, values: [caller, key, validFrom] });
        return row && petOf(row);
      },
    }),
    async promiseDays(days, now) {
      const [row = []] = await connections.write(PROMISE, [days, now]);
      return Number(row[0]);
    },
    async count() {
      using session = await connections.openSession(true);
      const [row] = await session.run(COUNT);
      return Number(row?.[0]);
    },
    removeRecords: async (createdBefore, most) =>
      (await connections.write(REMOVE, [createdBefore, most])).length,
    redateRecords: async (now, most) => (await connections.write(REDATE, [now, most])).length,
  };
}
