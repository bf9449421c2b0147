/**
 * Exactly-once creates in SQLite: a pet and the record of its idempotency key are one transaction. The clock of the machine
 * decides when a record ends: all servers of a file run on one machine.
 */

import type Database from 'better-sqlite3';
import { CREATE_REQUEST } from '../../application/ports/idempotent-changes.ts';
import type { IdempotencyRecords, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { storedPet } from '../../domain/pet.ts';
import { newPetJson } from '../../domain/pet-json.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import type { PetRow } from '../storage-kit/pet-rows.ts';
import { replayedPet } from '../storage-kit/records.ts';
import { addPet, FIND_PET } from './pets.ts';
import type { Reads } from './reads.ts';
import { LAST_ID } from './schema.ts';
import type { Writer } from './writer.ts';

/** The end of an INSERT of a record: one that has ended is replaced, and a valid one changes no row. */
export const RENEW_RECORD: string = `ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, valid_until = excluded.valid_until,
  request = excluded.request, response = excluded.response WHERE valid_until < ?`;

/** The pet that {@link addPet} inserts next gets the next id of the AUTOINCREMENT column, or fails if there is none. */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, valid_until, request, response)
  SELECT ?, ?, id, ?, '${CREATE_REQUEST}', concat('{"id":', id, ',', ?) FROM (SELECT 1 + min(${INT64_MAX - 1n}, (${LAST_ID})) AS id) WHERE true
  ${RENEW_RECORD}`;

export const FIND_RECORD: string =
  'SELECT pet_id, request, response FROM idempotency_records WHERE caller = ? AND key = ? AND valid_until >= ?';
/** The number of records that are counted in one turn of the event loop. */
const COUNT_STEP = 10_000;
const NEXT_STEP = `SELECT caller, key FROM idempotency_records WHERE (caller, key) > (?, ?)
  ORDER BY caller, key LIMIT 1 OFFSET ${COUNT_STEP - 1}`;
const COUNT_REST = 'SELECT count(*) FROM idempotency_records WHERE (caller, key) > (?, ?)';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE valid_until < ? ORDER BY valid_until LIMIT ?)`;

export function idempotentCreates(db: Database.Database, reads: Reads, writer: Writer): IdempotentCreates {
  const findRecord = db.prepare<[string, string, number], readonly unknown[]>(FIND_RECORD).raw();
  const findPet = db.prepare<[bigint], PetRow>(FIND_PET).raw();
  return {
    add: exactlyOnce({
      /** Changes nothing when a valid record exists. */
      async claim(pet, { caller, key, validFor }) {
        const now = Date.now();
        const response = newPetJson(pet).slice(1);
        const record = [ADD_RECORD, caller, key, now + validFor, response, now] as const;
        const { rowId, changes } = await writer.storeWrite(record, addPet(pet));
        return changes === 0 ? undefined : storedPet(rowId, pet);
      },
      find: ({ caller, key }) =>
        reads.read(() => {
          const record = findRecord.get(caller, key, Date.now());
          return record && replayedPet(record, findPet.get(record[0] as bigint));
        }),
    }),
  };
}

export function idempotencyRecords(db: Database.Database, reads: Reads, writer: Writer): IdempotencyRecords {
  const nextStep = db.prepare<[string, string], [string, string]>(NEXT_STEP).raw();
  const countRest = db.prepare<[string, string], number>(COUNT_REST).pluck().safeIntegers(false);
  return {
    async count() {
      for (let [count, last] = [0, ['', ''] as [string, string]]; ; count += COUNT_STEP) {
        const next = await reads.read(() => nextStep.get(...last) ?? countRest.get(...last) ?? 0);
        if (typeof next === 'number') return count + next;
        last = next;
      }
    },
    removeRecords: async (limit) => (await writer.storeWrite([REMOVE, Date.now(), limit])).changes,
  };
}
