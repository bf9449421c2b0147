import type Database from 'better-sqlite3';
import type { CreateAttempt, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import type { RecordCount } from '../storage-kit/record-quota.ts';
import { ADD_PET, type PetRow, petOf } from './pet-repository.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import type { Writer } from './write/writer.ts';

/**
 * The pet that {@link ADD_PET} inserts next gets the next id of the AUTOINCREMENT column, or fails if there is none. A
 * record that is no longer valid is replaced.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at) VALUES (?, ?, 1 + min(
    ${INT64_MAX - 1n},
    max(
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0),
      coalesce((SELECT max(id) FROM pets), 0)
    )
  ), ?)
  ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at WHERE created_at < ?`;

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
const NEXT_CALLER = 'SELECT min(caller) FROM idempotency_records WHERE caller > ?';
const COUNT_STEP = `SELECT count(*), max(key), min(created_at) FROM (
  SELECT key, created_at FROM idempotency_records WHERE caller = ? AND key > ? ORDER BY key LIMIT 10000)`;
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;
const REDATE = `UPDATE idempotency_records SET created_at = ? WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at > ? LIMIT ?)`;

/** In milliseconds. */
const COUNT_TIMEOUT = 5000;

type CountedStep = [count: bigint, lastKey: string | null, oldestAt: bigint | null];

export class SqliteIdempotentCreates implements IdempotentCreates {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: Writer;
  readonly #find: Database.Statement<[string, string, number], PetRow>;
  readonly #countStep: Database.Statement<[string, string], CountedStep>;
  readonly #nextCaller: Database.Statement<[string], string | null>;
  readonly add: IdempotentCreates['add'];

  /** @param limit the maximum number of records of one caller */
  constructor(db: Database.Database, snapshot: ReadSnapshot, writer: Writer, limit?: number) {
    this.#snapshot = snapshot;
    this.#writer = writer;
    this.#find = db.prepare<[string, string, number], PetRow>(FIND).raw();
    this.#countStep = db.prepare<[string, string], CountedStep>(COUNT_STEP).raw();
    this.#nextCaller = db.prepare<[string], string | null>(NEXT_CALLER).pluck();
    const records = {
      countOf: (caller: string) => this.#countOf(caller),
      countTimeout: COUNT_TIMEOUT,
      claim: (pet: NewPet, attempt: CreateAttempt) => this.#claim(pet, attempt),
      find: (attempt: CreateAttempt) => this.#findPet(attempt),
    };
    this.add = exactlyOnce(records, limit);
  }

  /** Changes nothing when a valid record exists. */
  async #claim(
    { name, categoryId, status }: NewPet,
    { caller, key, at, validFrom }: CreateAttempt,
  ): Promise<bigint | undefined> {
    const { rowId, changes } = await this.#writer.storeWrite(
      [ADD_RECORD, caller, key, at, validFrom],
      [ADD_PET, name, categoryId, status],
    );
    return changes === 0 ? undefined : rowId;
  }

  async #findPet({ caller, key, validFrom }: CreateAttempt): Promise<Pet | undefined> {
    const row = await this.#snapshot.read(() => this.#find.get(caller, key, validFrom));
    return row && petOf(row);
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
