/**
 * Exactly-once creates in SQLite: a pet and the record of its idempotency key are one transaction. The clock of the machine
 * decides when a record ends: all servers of a file run on one machine.
 */

import type Database from 'better-sqlite3';
import type { IdempotencyRecords, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { storedPet } from '../../domain/pet.ts';
import { exactlyOnce, petRemoved } from '../storage-kit/exactly-once.ts';
import { PET_COLUMNS, type PetRow, petOf } from '../storage-kit/pet-rows.ts';
import { addPet } from './pets.ts';
import type { Reads } from './reads.ts';
import { LAST_ID } from './schema.ts';
import type { Writer } from './writer.ts';

/**
 * The pet that {@link addPet} inserts next gets the next id of the AUTOINCREMENT column, or fails if there is none. A
 * record that has ended is replaced.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, valid_until)
  VALUES (?, ?, 1 + min(${INT64_MAX - 1n}, (${LAST_ID})), ?)
  ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, valid_until = excluded.valid_until WHERE valid_until < ?`;

const FIND_ID = 'SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND valid_until >= ?';
const FIND_PET = `SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`;
const COUNT = 'SELECT count(*) FROM idempotency_records';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE valid_until < ? ORDER BY valid_until LIMIT ?)`;

export function idempotentCreates(db: Database.Database, reads: Reads, writer: Writer): IdempotentCreates {
  const findId = db.prepare<[string, string, number], bigint>(FIND_ID).pluck();
  const findPet = db.prepare<[bigint], PetRow>(FIND_PET).raw();
  return {
    add: exactlyOnce({
      /** Changes nothing when a valid record exists. */
      async claim(pet, { caller, key, validFor }) {
        const now = Date.now();
        const record = [ADD_RECORD, caller, key, now + validFor, now] as const;
        const { rowId, changes } = await writer.storeWrite(record, addPet(pet));
        return changes === 0 ? undefined : storedPet(rowId, pet);
      },
      find: ({ caller, key }) =>
        reads.read(() => {
          const id = findId.get(caller, key, Date.now());
          if (id === undefined) return undefined;
          const row = findPet.get(id);
          if (row === undefined) throw petRemoved(id);
          return petOf(row);
        }),
    }),
  };
}

export function idempotencyRecords(db: Database.Database, reads: Reads, writer: Writer): IdempotencyRecords {
  const count = db.prepare<[], number>(COUNT).pluck().safeIntegers(false);
  return {
    count: () => reads.read(() => count.get() ?? 0),
    removeRecords: async (limit) => (await writer.storeWrite([REMOVE, Date.now(), limit])).changes,
  };
}
