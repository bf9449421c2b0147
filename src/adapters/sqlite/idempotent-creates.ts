import type Database from 'better-sqlite3';
import type { CreateAttempt, CreateResult } from '../../application/ports/create-attempt.ts';
import {
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet } from '../../domain/pet.ts';
import { INSERT, type PetRow, petOf } from './pet-repository.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import type { Statement, StatementWriter } from './statement-writer.ts';

/**
 * Stores the record of the pet that the next statement inserts, which gets the next id of its AUTOINCREMENT column. Fails
 * when a record with the same caller and key exists, and the pet is then not stored either. If all ids have been
 * assigned, the next statement fails.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at)
  VALUES (?, ?, coalesce((SELECT min(seq, ${INT64_MAX - 1n}) FROM sqlite_sequence WHERE name = 'pets'), 0) + 1, ?)`;
const EXISTS = /UNIQUE constraint failed: idempotency_records/;

/** Removes the record if it is no longer valid. */
const REMOVE_EXPIRED = 'DELETE FROM idempotency_records WHERE caller = ? AND key = ? AND created_at < ?';

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
const COUNT_OF = 'SELECT records FROM idempotency_counts WHERE caller = ?';
const COUNT = 'SELECT coalesce(sum(records), 0) FROM idempotency_counts';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;
const REDATE = `UPDATE idempotency_records SET created_at = ? WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at > ? LIMIT ?)`;

/**
 * The number of attempts of a caller after which its records are counted again. So each process can exceed the limit of
 * the caller by this number.
 */
const COUNT_INTERVAL = 1000;

/** Stores the records in the transactions that store the pets. */
export class SqliteIdempotentCreates implements IdempotentCreates {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: StatementWriter;
  readonly #find: Database.Statement<[string, string, number], PetRow>;
  readonly #countOf: Database.Statement<[string], bigint>;
  readonly #count: Database.Statement<[], bigint>;
  /** For each caller, the number of attempts until its records are counted again. */
  readonly #room = new Map<string, number>();
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
    this.#countOf = db.prepare<[string], bigint>(COUNT_OF).pluck();
    this.#count = db.prepare<[], bigint>(COUNT).pluck();
    this.#limit = limit;
  }

  async add(pet: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    if (!this.#hasRoom(attempt.caller)) {
      return this.#replay(attempt) ?? Promise.reject(tooManyRecords(this.#limit));
    }
    // Most keys are new, so the attempt first tries to store the record. Afterwards it looks for a valid record, and
    // removes a record that is no longer valid.
    return (
      (await this.#store(pet, attempt)) ??
      this.#replay(attempt) ??
      (await this.#store(pet, attempt, [REMOVE_EXPIRED, attempt.caller, attempt.key, attempt.validFrom])) ??
      this.#replay(attempt) ??
      Promise.reject(new AnimalStoreError('internal_error', 'the record of an attempt was removed'))
    );
  }

  /** Stores the pet and the record. Resolves with `undefined` when the record exists. */
  #store(
    { name, categoryId, status }: NewPet,
    { caller, key, at }: CreateAttempt,
    ...first: Statement[]
  ): Promise<CreateResult | undefined> {
    return this.#writer.run(...first, [ADD_RECORD, caller, key, at], [INSERT, name, categoryId, status]).then(
      ({ rowId }) => ({ pet: Object.freeze({ id: rowId, name, categoryId, status }), isReplay: false }),
      (error: Error) => {
        if (EXISTS.test(String(error.cause))) return undefined;
        throw error;
      },
    );
  }

  /** Returns the pet of the valid record, or `undefined` when there is no valid record. */
  #replay({ caller, key, validFrom }: CreateAttempt): CreateResult | undefined {
    const row = this.#snapshot.read(() => this.#find.get(caller, key, validFrom));
    return row && { pet: petOf(row), isReplay: true };
  }

  /**
   * Whether the caller may store a further record. Reads the number of records only after {@link COUNT_INTERVAL} attempts,
   * because each read takes time.
   */
  #hasRoom(caller: string): boolean {
    let room = this.#room.get(caller) ?? 0;
    if (room === 0) {
      const records = Number(this.#snapshot.read(() => this.#countOf.get(caller)) ?? 0);
      room = Math.min(this.#limit - records, COUNT_INTERVAL);
    }
    this.#room.set(caller, Math.max(0, room - 1));
    return room > 0;
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
