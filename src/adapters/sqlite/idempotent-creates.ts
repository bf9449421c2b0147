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
import { type PetRow, petOf } from './pet-repository.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import type { Statement, StatementWriter } from './statement-writer.ts';

/**
 * Stores the record of the pet that {@link ADD_PET} inserts, which gets the next id of the AUTOINCREMENT column. Does
 * nothing when a record with the same caller and key exists. If all ids have been assigned, {@link ADD_PET} fails.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at) VALUES (?, ?, 1 + min(
    ${INT64_MAX - 1n},
    max(
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0),
      coalesce((SELECT max(id) FROM pets), 0)
    )
  ), ?) ON CONFLICT DO NOTHING`;

/** Stores the pet if the previous statement has stored its record. */
const ADD_PET = 'INSERT INTO pets (name, category_id, status) SELECT ?, ?, ? WHERE changes() > 0';

/** Removes the record if it is no longer valid. */
const REMOVE_EXPIRED = 'DELETE FROM idempotency_records WHERE caller = ? AND key = ? AND created_at < ?';

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
const COUNT_OF = 'SELECT records FROM idempotency_counts WHERE caller = ?';
export const COUNT = 'SELECT coalesce(sum(records), 0) FROM idempotency_counts';
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;
const REDATE = `UPDATE idempotency_records SET created_at = ? WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at > ? LIMIT ?)`;

/**
 * The number of attempts of a caller after which its records are counted again. So the limit can be exceeded by this
 * number for each process, and by the creates in progress.
 */
const COUNT_INTERVAL = 1000;

/** The maximum number of callers whose records need not be counted again. */
const CALLERS_LIMIT = 10_000;

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
      Promise.reject(new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry'))
    );
  }

  /** Stores the pet and the record. Resolves with `undefined` when the record exists. */
  async #store(
    { name, categoryId, status }: NewPet,
    { caller, key, at }: CreateAttempt,
    ...first: Statement[]
  ): Promise<CreateResult | undefined> {
    const record: Statement = [ADD_RECORD, caller, key, at];
    const { changes, rowId } = await this.#writer.run(...first, record, [ADD_PET, name, categoryId, status]);
    if (changes === 0) return undefined;
    return { pet: Object.freeze({ id: rowId, name, categoryId, status }), isReplay: false };
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
    if (this.#room.size >= CALLERS_LIMIT) this.#room.clear();
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
