/** Exactly once: a pet and the record of its key are one transaction. */

import type { IdempotencyRecords, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Creates } from './creates.ts';
import { COLUMNS, ORDER, petOf } from './pets.ts';
import type { Read } from './reads.ts';

const FIND = `SELECT ${COLUMNS} FROM idempotency_records LEFT JOIN pets ON id = pet_id
  WHERE caller = $1 AND key = $2 AND ends_at >= $3`;

/** A record that a create has renewed since the statement began is not removed. */
export const REMOVE: string = `WITH ${ORDER} DELETE FROM idempotency_records
  WHERE ends_at < $1 AND (caller, key) IN (
    SELECT caller, key FROM ordered, idempotency_records WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)
  RETURNING 1`;

const GONE = 'the pet of this idempotency key no longer exists: another program has removed it';

export function idempotentCreates(
  read: Read,
  creates: Creates,
  pool: ConnectionPool,
): IdempotentCreates & IdempotencyRecords {
  return {
    add: exactlyOnce({
      claim: (pet, attempt) => creates.addCreate({ pet, attempt }),
      async find({ caller, key, at }) {
        const values = [caller, key, at];
        const [row] = await read(() => ({ name: 'find-record', text: FIND, values }));
        if (row?.[0] === null) throw new AnimalStoreError('internal_error', GONE);
        return row && petOf(row);
      },
    }),
    async count() {
      using session = await pool.openSession();
      return Number((await session.run('SELECT count(*) FROM idempotency_records'))[0]?.[0]);
    },
    removeRecords: async (now, limit) => (await pool.write(REMOVE, [now, limit])).length,
  };
}
