/** Exactly-once changes in SQLite: a change and the record of its idempotency key are one transaction. */

import type Database from 'better-sqlite3';
import type { ChangeAttempt, IdempotentChanges } from '../../application/ports/idempotent-changes.ts';
import type { Pet } from '../../domain/pet.ts';
import { recordOf, responseOf } from '../storage-kit/records.ts';
import { FIND_RECORD, RENEW_RECORD } from './idempotent-creates.ts';
import { COMPARE, setPet, storeCompared, versionFinder } from './pet-changes.ts';
import type { Reads } from './reads.ts';
import type { Writer } from './writer.ts';
import type { SqlStatement } from './writer-thread.ts';

const COMPARE_ONCE = `${COMPARE} AND NOT EXISTS (${FIND_RECORD})`;
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, valid_until, request, response)
  VALUES (?, ?, ?, ?, ?, ?) ${RENEW_RECORD}`;

export function idempotentChanges(db: Database.Database, reads: Reads, writer: Writer): IdempotentChanges {
  const findVersion = versionFinder(db);
  const findRecord = db.prepare<[string, string, number], readonly unknown[]>(FIND_RECORD).raw();
  const write = (
    id: bigint,
    pet: Pet | undefined,
    expected: bigint,
    attempt: ChangeAttempt,
  ): Promise<bigint | undefined> => {
    const compare = [COMPARE_ONCE, expected, id, attempt.caller, attempt.key, Date.now()] as const;
    return storeCompared(db, reads, writer, [compare, recordStatement(id, pet, attempt), ...setPet(id, pet)]);
  };
  return {
    find: (id, { caller, key }) =>
      reads.read(() => {
        const record = findRecord.get(caller, key, Date.now());
        return { record: record && recordOf(record), version: findVersion(id) };
      }),
    replace: (pet, expected, attempt) => write(pet.id, pet, expected, attempt),
    remove: (id, expected, attempt) => write(id, undefined, expected, attempt),
    async record(id, pet, attempt) {
      return (await writer.storeWrite(recordStatement(id, pet, attempt))).changes > 0;
    },
  };
}

function recordStatement(
  id: bigint,
  pet: Pet | undefined,
  { caller, key, validFor, request }: ChangeAttempt,
): SqlStatement {
  const now = Date.now();
  return [ADD_RECORD, caller, key, id, now + validFor, request, responseOf(id, pet), now];
}
