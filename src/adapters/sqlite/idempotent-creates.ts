import type Database from 'better-sqlite3';
import type { CreateAttempt, CreateResult } from '../../application/ports/create-attempt.ts';
import {
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import type { NewPet } from '../../domain/pet.ts';
import { type PetRow, petOf } from './pet-repository.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import type { StatementWriter } from './statement-writer.ts';

/** Stores the pet unless a valid record exists, or the caller has too many records. */
const ADD_PET = `INSERT INTO pets (name, category_id, status) SELECT ?, ?, ?
  WHERE NOT EXISTS (SELECT 1 FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)
    AND coalesce((SELECT records FROM idempotency_counts WHERE caller = ?), 0) < ?`;

/**
 * Stores the record if {@link ADD_PET} has stored a pet. Replaces a record that is no longer valid. The table has no
 * row ids, so the last inserted row id remains the id of the pet.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at)
  SELECT ?, ?, last_insert_rowid(), ? WHERE changes() > 0
  ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at`;

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
const COUNT = 'SELECT coalesce(sum(records), 0) FROM idempotency_counts';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;
const REDATE = `UPDATE idempotency_records SET created_at = ? WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at > ? LIMIT ?)`;

/** Stores the records in the transactions that store the pets. */
export class SqliteIdempotentCreates implements IdempotentCreates {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: StatementWriter;
  readonly #find: Database.Statement<[string, string, number], PetRow>;
  readonly #count: Database.Statement<[], bigint>;
  readonly #limit: number;

  /** @param limit the maximum number of records of one caller */
  constructor(
    db: Database.Database,
    snapshot: ReadSnapshot,
    writer: StatementWriter,
    limit: number = RECORDS_PER_CALLER,
  ) {
    this.#snapshot = snapshot;
    this.#writer = writer;
    this.#find = db.prepare<[string, string, number], PetRow>(FIND).raw();
    this.#count = db.prepare<[], bigint>(COUNT).pluck();
    this.#limit = limit;
  }

  async add(pet: NewPet, { caller, key, at, validFrom }: CreateAttempt): Promise<CreateResult> {
    const { name, categoryId, status } = pet;
    const { changes, rowId } = await this.#writer.run(
      [ADD_PET, name, categoryId, status, caller, key, validFrom, caller, this.#limit],
      [ADD_RECORD, caller, key, at],
    );
    if (changes > 0) {
      return { pet: Object.freeze({ id: rowId, name, categoryId, status }), isReplay: false };
    }
    const row = this.#snapshot.read(() => this.#find.get(caller, key, validFrom));
    if (row === undefined) throw tooManyRecords(this.#limit);
    return { pet: petOf(row), isReplay: true };
  }

  async count(): Promise<number> {
    return Number(this.#snapshot.read(() => this.#count.get()));
  }

  async removeRecords(createdBefore: number, limit: number): Promise<number> {
    const { changes } = await this.#writer.run([REMOVE, createdBefore, limit]);
    return changes;
  }

  async redateRecords(now: number, limit: number): Promise<number> {
    const { changes } = await this.#writer.run([REDATE, now, now, limit]);
    return changes;
  }
}
