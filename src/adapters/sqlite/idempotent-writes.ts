/** Exactly-once writes: a write and its record are one transaction. The clock of the machine decides when a record ends. */

import {
  type ChangeAttempt,
  CREATE_REQUEST,
  type IdempotentChanges,
} from '../../application/ports/idempotent-changes.ts';
import type {
  CreateAttempt,
  IdempotencyRecords,
  IdempotentCreates,
} from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import type { PetRow } from '../storage-kit/pet-rows.ts';
import { exactlyOnce, recordOf, replayedPet, responseAfterId, responseOf } from '../storage-kit/records.ts';
import { IS_EXPECTED, setPet, storeIf, versionFinder } from './pet-changes.ts';
import { addPet, FIND_PET } from './pets.ts';
import type { Reads } from './reads.ts';
import { LAST_ID } from './schema.ts';
import type { Writer } from './writer.ts';
import type { SqlStatement } from './writer-thread.ts';

const INSERT_RECORD = 'INSERT INTO idempotency_records (caller, key, pet_id, valid_until, request, response)';
/** The last clause of an INSERT of a record: replaces a record that has ended. If the record is valid, no row changes. */
const RENEW_RECORD = `ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, valid_until = excluded.valid_until,
  request = excluded.request, response = excluded.response WHERE valid_until < ?`;

/** Adds a record with the id that {@link addPet} will assign afterwards. If no id is left, {@link addPet} fails. */
const ADD_CREATE_RECORD = `${INSERT_RECORD} SELECT ?, ?, id, ?, '${CREATE_REQUEST}', concat('{"id":', id, ?) FROM (SELECT 1 + min(${INT64_MAX - 1n}, (${LAST_ID})) AS id) WHERE true
  ${RENEW_RECORD}`;
const ADD_RECORD = `${INSERT_RECORD} VALUES (?, ?, ?, ?, ?, ?) ${RENEW_RECORD}`;

const FIND_RECORD =
  'SELECT pet_id, request, response FROM idempotency_records WHERE caller = ? AND key = ? AND valid_until >= ?';
const IS_FIRST = `${IS_EXPECTED} AND NOT EXISTS (${FIND_RECORD})`;
/** The number of records that are counted in one turn of the event loop. */
const COUNT_STEP = 10_000;
const NEXT_STEP = `SELECT caller, key FROM idempotency_records WHERE (caller, key) > (?, ?)
  ORDER BY caller, key LIMIT 1 OFFSET ${COUNT_STEP - 1}`;
const COUNT_REST = 'SELECT count(*) FROM idempotency_records WHERE (caller, key) > (?, ?)';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE valid_until < ? ORDER BY valid_until LIMIT ?)`;

export function idempotentWrites(
  reads: Reads,
  writer: Writer,
): IdempotentCreates & IdempotentChanges & IdempotencyRecords {
  const { db } = reads;
  const findPet = db.prepare<[bigint], PetRow>(FIND_PET).raw();
  const findVersion = versionFinder(db);
  const record = db.prepare<[string, string, number], readonly unknown[]>(FIND_RECORD).raw();
  const findRecord = ({ caller, key }: CreateAttempt) => record.get(caller, key, Date.now());
  const nextStep = db.prepare<[string, string], [string, string]>(NEXT_STEP).raw();
  const countRest = db.prepare<[string, string], number>(COUNT_REST).pluck().safeIntegers(false);
  const write = (id: bigint, pet: Pet | undefined, expected: bigint, attempt: ChangeAttempt) => {
    const now = Date.now();
    const condition = [IS_FIRST, expected, id, attempt.caller, attempt.key, now] as const;
    return storeIf(condition, [recordStatement(id, pet, attempt, now), ...setPet(id, pet)], reads, writer);
  };
  return {
    add: exactlyOnce({
      async claim(pet, { caller, key, validFor }) {
        const now = Date.now();
        const record = [ADD_CREATE_RECORD, caller, key, now + validFor, responseAfterId(pet), now] as const;
        const { rowId, changes } = await writer.storeWrite(record, addPet(pet));
        return changes === 0 ? undefined : storedPet(rowId, pet);
      },
      find: (attempt) =>
        reads.read(() => {
          const found = findRecord(attempt);
          return found && replayedPet(found, findPet.get(found[0] as bigint));
        }),
    }),
    find: (id, attempt) =>
      reads.read(() => {
        const found = findRecord(attempt);
        return { record: found && recordOf(found), version: findVersion(id) };
      }),
    replace: (pet, expected, attempt) => write(pet.id, pet, expected, attempt),
    remove: (id, expected, attempt) => write(id, undefined, expected, attempt),
    record: async (id, pet, attempt) =>
      (await writer.storeWrite(recordStatement(id, pet, attempt, Date.now()))).changes > 0,
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

function recordStatement(
  id: bigint,
  pet: Pet | undefined,
  { caller, key, validFor, request }: ChangeAttempt,
  now: number,
): SqlStatement {
  return [ADD_RECORD, caller, key, id, now + validFor, request, responseOf(id, pet), now];
}
