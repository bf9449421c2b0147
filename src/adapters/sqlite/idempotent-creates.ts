import type Database from 'better-sqlite3';
import type { IdempotencyRecords, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { storedPet } from '../../domain/pet.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import { addPet, COLUMNS, type PetRow, petOf } from './pets.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import { LAST_ID } from './schema.ts';
import type { Writer } from './write/writer.ts';

/**
 * The pet that {@link addPet} inserts next gets the next id of the AUTOINCREMENT column, or fails if there is none. A
 * record that is no longer valid is replaced.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at)
  VALUES (?, ?, 1 + min(${INT64_MAX - 1n}, (${LAST_ID})), ?)
  ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at WHERE created_at < ?`;

const FIND = `SELECT ${COLUMNS} FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
const COUNTED_PER_STEP = 10_000;
/** Returns the last record of a step, unless the step has fewer records. */
const COUNT_STEP = `SELECT caller, key FROM idempotency_records WHERE (caller, key) > (?, ?)
  ORDER BY caller, key LIMIT 1 OFFSET ${COUNTED_PER_STEP - 1}`;
const COUNT_REST = 'SELECT count(*) FROM idempotency_records WHERE (caller, key) > (?, ?)';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;

export function idempotentCreates(
  db: Database.Database,
  snapshot: ReadSnapshot,
  writer: Writer,
): IdempotentCreates & IdempotencyRecords {
  const findRecord = db.prepare<[string, string, number], PetRow>(FIND).raw();
  const countStep = db.prepare<string[], readonly string[]>(COUNT_STEP).raw();
  const countRest = db.prepare<string[], number>(COUNT_REST).pluck().safeIntegers(false);

  return {
    add: exactlyOnce({
      /** Changes nothing when a valid record exists. */
      async claim(pet, { caller, key, at, validUntil }) {
        const { rowId, changes } = await writer.storeWrite(
          [ADD_RECORD, caller, key, validUntil, at],
          addPet(pet),
        );
        return changes === 0 ? undefined : storedPet(rowId, pet);
      },
      async find({ caller, key, at }) {
        const row = await snapshot.read(() => findRecord.get(caller, key, at));
        return row && petOf(row);
      },
    }),
    /** Counts in steps, one per iteration of the event loop, so that none takes long. */
    async count() {
      let counted = 0;
      for (let last: readonly string[] = ['', '']; ; counted += COUNTED_PER_STEP) {
        const from = last;
        const next = await snapshot.read(() => countStep.get(...from));
        if (next === undefined) return counted + (await snapshot.read(() => countRest.get(...from) ?? 0));
        last = next;
      }
    },
    removeRecords: async (now, most) => (await writer.storeWrite([REMOVE, now, most])).changes,
  };
}
