import { setTimeout as delay } from 'node:timers/promises';
import {
  type CreateAttempt,
  type CreateResult,
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import { RecordQuota } from '../../application/record-quota.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Connections, Row } from './connections.ts';
import type { Creates } from './creates.ts';
import { petOf } from './pets.ts';
import type { Reader } from './reader.ts';

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = $1 AND key = $2 AND created_at >= $3)`;
const COUNT = 'SELECT count(*) FROM idempotency_records';
const COUNT_OF = 'SELECT count(*), min(created_at) FROM idempotency_records WHERE caller = $1';

/** Locks the oldest records, without waiting for creates that lock the same records in another order. */
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency_records WHERE created_at < $1 ORDER BY created_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
const REDATE = `UPDATE idempotency_records SET created_at = $1 WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency_records WHERE created_at > $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** How often a create claims a key whose record is neither valid nor old. */
const ATTEMPTS = 3;

/** @param limit the maximum number of records of one caller */
export function idempotentCreates(
  reader: Reader,
  creates: Creates,
  connections: Connections,
  limit: number = RECORDS_PER_CALLER,
): IdempotentCreates {
  const quota = new RecordQuota(limit, async (caller) => {
    const [count, oldestAt] = await readSlowly(COUNT_OF, [caller]);
    return { count: Number(count), oldestAt: oldestAt === null ? undefined : Number(oldestAt) };
  });

  async function replay({ caller, key, validFrom }: CreateAttempt): Promise<CreateResult | undefined> {
    const [row] = await reader.query({ name: 'find-record', text: FIND, values: [caller, key, validFrom] });
    return row && { pet: petOf(row), isReplay: true };
  }

  async function readSlowly(text: string, values?: unknown[]): Promise<Row> {
    const { run, release } = await connections.openSession(true);
    try {
      const [row = []] = await run(text, values);
      return row;
    } finally {
      release();
    }
  }

  /** Rejects at the deadline of a call. The count of the records itself continues. */
  async function late(): Promise<never> {
    await delay(connections.waitTimeout, undefined, { ref: false });
    const message = 'counting the idempotency keys of this API key takes long: nothing was stored';
    throw new AnimalStoreError('storage_unavailable', message);
  }

  return {
    async add({ name, categoryId, status }, attempt) {
      const pet: NewPet = { name, categoryId, status };
      const reserving = quota.reserveRecord(attempt.caller);
      const oldestAt = reserving && (await Promise.race([reserving, late()]));
      if (oldestAt !== undefined) {
        const replayed = await replay(attempt);
        if (replayed === undefined) throw tooManyRecords(limit, attempt, oldestAt);
        return replayed;
      }
      for (let count = 0; count < ATTEMPTS; count++) {
        const id = await creates.addCreate({ pet, attempt });
        if (id !== undefined) return { pet: Object.freeze({ id, ...pet }), isReplay: false };
        const replayed = await replay(attempt);
        if (replayed !== undefined) return replayed;
      }
      throw new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry');
    },
    count: async () => Number((await readSlowly(COUNT))[0]),
    removeRecords: async (createdBefore, most) =>
      (await connections.write(REMOVE, [createdBefore, most])).length,
    redateRecords: async (now, most) => (await connections.write(REDATE, [now, most])).length,
  };
}
