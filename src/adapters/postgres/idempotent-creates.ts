import type { IdempotencyRecords, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Creates } from './creates.ts';
import { ORDER } from './order.ts';
import { COLUMNS, petOf } from './pets.ts';
import type { Read } from './reads.ts';

const FIND = `SELECT ${COLUMNS} FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = $1 AND key = $2 AND created_at >= $3)`;
const COUNT = 'SELECT count(*) FROM idempotency_records';

/** A record that a create has renewed since the statement began is not removed. */
export const REMOVE: string = `WITH ${ORDER} DELETE FROM idempotency_records
  WHERE created_at < $1 AND (caller, key) IN (
    SELECT caller, key FROM ordered, idempotency_records WHERE created_at < $1 ORDER BY created_at LIMIT $2)
  RETURNING 1`;

export function idempotentCreates(
  read: Read,
  creates: Creates,
  connections: ConnectionPool,
): IdempotentCreates & IdempotencyRecords {
  return {
    add: exactlyOnce({
      claim: (pet, attempt) => creates.addCreate({ pet, attempt }),
      async find({ caller, key, at }) {
        const [row] = await read({ name: 'find-record', text: FIND, values: [caller, key, at] });
        return row && petOf(row);
      },
    }),
    async count() {
      using session = await connections.openSession(true);
      const [row] = await session.run(COUNT);
      return Number(row?.[0]);
    },
    removeRecords: async (now, most) => (await connections.write(REMOVE, [now, most])).length,
  };
}
