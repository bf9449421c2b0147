import { setTimeout as delay } from 'node:timers/promises';
import type { CreateAttempt, CreateResult } from '../../application/ports/create-attempt.ts';
import {
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import { RecordQuota } from '../../application/record-quota.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet } from '../../domain/pet.ts';
import { petOf } from './pet-row.ts';
import type { ConnectionPool } from './pool.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = $1 AND key = $2 AND created_at >= $3)`;
const COUNT = 'SELECT count(*) FROM idempotency_records';
const COUNT_OF = `${COUNT} WHERE caller = $1`;

/** Locks the oldest records, without waiting for creates that lock the same records in another order. */
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency_records WHERE created_at < $1 ORDER BY created_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
const REDATE = `UPDATE idempotency_records SET created_at = $1 WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency_records WHERE created_at > $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** How often a create claims a key whose record is neither valid nor old. */
const ATTEMPTS = 3;

/** How long a create waits for the count of the records of its caller, in milliseconds. The count itself continues. */
const COUNT_TIMEOUT = 1000;

/** Stores the records in the transactions that store the pets. */
export class PostgresIdempotentCreates implements IdempotentCreates {
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #pool: ConnectionPool;
  readonly #limit: number;
  readonly #quota: RecordQuota;

  /** @param limit the maximum number of records of one caller */
  constructor(reader: Reader, writer: Writer, pool: ConnectionPool, limit: number = RECORDS_PER_CALLER) {
    this.#reader = reader;
    this.#writer = writer;
    this.#pool = pool;
    this.#limit = limit;
    this.#quota = new RecordQuota(limit, (caller) => this.#count(COUNT_OF, [caller]));
  }

  async add({ name, categoryId, status }: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    const pet: NewPet = { name, categoryId, status };
    const isAllowed = this.#quota.take(attempt.caller);
    if (isAllowed !== true && !(await inTime(isAllowed))) {
      const replay = await this.#replay(attempt);
      if (replay === undefined) throw tooManyRecords(this.#limit);
      return replay;
    }
    for (let count = 0; count < ATTEMPTS; count++) {
      const id = await this.#writer.addOnce(pet, attempt);
      if (id !== undefined) return { pet: Object.freeze({ id, ...pet }), isReplay: false };
      const replay = await this.#replay(attempt);
      if (replay !== undefined) return replay;
    }
    throw new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry');
  }

  count(): Promise<number> {
    return this.#count(COUNT, []);
  }

  async removeRecords(createdBefore: number, limit: number): Promise<number> {
    return (await this.#pool.write(REMOVE, [createdBefore, limit])).length;
  }

  async redateRecords(now: number, limit: number): Promise<number> {
    return (await this.#pool.write(REDATE, [now, limit])).length;
  }

  /** Resolves with the pet of the valid record, or with `undefined` when there is no valid record. */
  async #replay({ caller, key, validFrom }: CreateAttempt): Promise<CreateResult | undefined> {
    const values = [caller, key, validFrom];
    const [row] = await this.#reader.run({ name: 'find-record', text: FIND, values });
    return row && { pet: petOf(row), isReplay: true };
  }

  async #count(text: string, values: readonly unknown[]): Promise<number> {
    const { run, release } = await this.#pool.open();
    let isSound = false;
    try {
      const [row] = await run(text, values);
      isSound = true;
      return Number(row?.[0]);
    } finally {
      release(isSound);
    }
  }
}

async function inTime(isAllowed: boolean | Promise<boolean>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(COUNT_TIMEOUT, undefined, { signal: timer.signal }).then(() => {
    throw new AnimalStoreError(
      'storage_unavailable',
      'counting the idempotency keys of this API key takes long: nothing was stored',
    );
  });
  try {
    return await Promise.race([isAllowed, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}
