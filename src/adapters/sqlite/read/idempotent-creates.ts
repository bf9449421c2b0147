import type Database from 'better-sqlite3';
import {
  type CreateAttempt,
  type CreateResult,
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../../application/ports/idempotent-creates.ts';
import { type RecordCount, RecordQuota } from '../../../application/record-quota.ts';
import { AnimalStoreError } from '../../../domain/errors.ts';
import { INT64_MAX } from '../../../domain/int64.ts';
import type { NewPet } from '../../../domain/pet.ts';
import type { Written } from '../write/statement.ts';
import type { Writer } from '../write/writer.ts';
import { ADD_PET, type PetRow, petOf } from './pet-repository.ts';
import type { ReadSnapshot } from './read-snapshot.ts';

/** The pet that {@link ADD_PET} inserts next gets the next id of the AUTOINCREMENT column, or fails if there is none. */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at) VALUES (?, ?, 1 + min(
    ${INT64_MAX - 1n},
    max(
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0),
      coalesce((SELECT max(id) FROM pets), 0)
    )
  ), ?) ON CONFLICT DO NOTHING`;

const REMOVE_EXPIRED = 'DELETE FROM idempotency_records WHERE caller = ? AND key = ? AND created_at < ?';

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
const NEXT_CALLER = 'SELECT min(caller) FROM idempotency_records WHERE caller > ?';
const COUNT_STEP = `SELECT count(*), max(key), min(created_at) FROM (
  SELECT key, created_at FROM idempotency_records WHERE caller = ? AND key > ? ORDER BY key LIMIT 10000)`;
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;
const REDATE = `UPDATE idempotency_records SET created_at = ? WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at > ? LIMIT ?)`;

type CountedStep = [count: bigint, lastKey: string | null, oldestAt: bigint | null];

export class SqliteIdempotentCreates implements IdempotentCreates {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: Writer;
  readonly #find: Database.Statement<[string, string, number], PetRow>;
  readonly #countStep: Database.Statement<[string, string], CountedStep>;
  readonly #nextCaller: Database.Statement<[string], string | null>;
  readonly #limit: number;
  readonly #quota: RecordQuota;

  /** @param limit the maximum number of records of one caller */
  constructor(
    db: Database.Database,
    snapshot: ReadSnapshot,
    writer: Writer,
    limit: number = RECORDS_PER_CALLER,
  ) {
    this.#snapshot = snapshot;
    this.#writer = writer;
    this.#find = db.prepare<[string, string, number], PetRow>(FIND).raw();
    this.#countStep = db.prepare<[string, string], CountedStep>(COUNT_STEP).raw();
    this.#nextCaller = db.prepare<[string], string | null>(NEXT_CALLER).pluck();
    this.#limit = limit;
    this.#quota = new RecordQuota(limit, (caller) => this.#countOf(caller));
  }

  async add(pet: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    const reserving = this.#quota.reserveRecord(attempt.caller);
    const oldestAt = reserving === undefined ? undefined : await reserving;
    if (oldestAt !== undefined) {
      const refusal = tooManyRecords(this.#limit, attempt, oldestAt);
      return (await this.#replay(attempt)) ?? Promise.reject(refusal);
    }
    // Most keys are new, so the record is stored first, and looked for only if it exists.
    return (
      addedPet(pet, await this.#store(pet, attempt)) ??
      (await this.#replay(attempt)) ??
      addedPet(pet, await this.#removeExpired(attempt).then(() => this.#store(pet, attempt))) ??
      (await this.#replay(attempt)) ??
      Promise.reject(new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry'))
    );
  }

  /** Changes nothing when the record exists. */
  #store(pet: NewPet, { caller, key, at }: CreateAttempt): Promise<Written> {
    const { name, categoryId, status } = pet;
    return this.#writer.storeWrite([ADD_RECORD, caller, key, at], [ADD_PET, name, categoryId, status]);
  }

  #removeExpired({ caller, key, validFrom }: CreateAttempt): Promise<Written> {
    return this.#writer.storeWrite([REMOVE_EXPIRED, caller, key, validFrom]);
  }

  async #replay({ caller, key, validFrom }: CreateAttempt): Promise<CreateResult | undefined> {
    const row = await this.#snapshot.read(() => this.#find.get(caller, key, validFrom));
    return row && { pet: petOf(row), isReplay: true };
  }

  /** Counts in steps, one per iteration of the event loop, so that none takes long. */
  async #countOf(caller: string): Promise<RecordCount> {
    let records = 0;
    let oldest = Infinity;
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after;
      const step = await this.#snapshot.read(() => this.#countStep.get(caller, from));
      const [count, lastKey, oldestAt] = step ?? [0n, null, null];
      records += Number(count);
      oldest = Math.min(oldest, Number(oldestAt ?? Infinity));
      after = lastKey;
    }
    return { count: records, oldestAt: records === 0 ? undefined : oldest };
  }

  async count(): Promise<number> {
    let records = 0;
    for (let caller: string | null = ''; caller !== null; ) {
      const counted: string = caller;
      records += (await this.#countOf(counted)).count;
      caller = (await this.#snapshot.read(() => this.#nextCaller.get(counted))) ?? null;
    }
    return records;
  }

  async removeRecords(createdBefore: number, limit: number): Promise<number> {
    const { changes } = await this.#writer.storeWrite([REMOVE, createdBefore, limit]);
    return changes;
  }

  async redateRecords(now: number, limit: number): Promise<number> {
    const { changes } = await this.#writer.storeWrite([REDATE, now, now, limit]);
    return changes;
  }
}

function addedPet(
  { name, categoryId, status }: NewPet,
  { changes, rowId }: Written,
): CreateResult | undefined {
  if (changes === 0) return undefined;
  return { pet: Object.freeze({ id: rowId, name, categoryId, status }), isReplay: false };
}
