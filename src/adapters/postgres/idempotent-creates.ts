import { setTimeout as delay } from 'node:timers/promises';
import {
  type CreateAttempt,
  type CreateResult,
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import { RecordQuota } from '../../application/record-quota.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Connections, Row } from './connections.ts';
import type { Creates } from './creates.ts';
import { petOf } from './pets.ts';
import type { Reader } from './reader.ts';

const FIND = `SELECT id, name, category_id, status FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = $1 AND key = $2 AND created_at >= $3)`;
const COUNT = 'SELECT count(*) FROM idempotency_records';
const COUNT_OF = 'SELECT count(*), min(created_at) FROM idempotency_records WHERE caller = $1';

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

/** Stores the records in the transactions that store the pets. */
export class PostgresIdempotentCreates implements IdempotentCreates {
  readonly #reader: Reader;
  readonly #creates: Creates;
  readonly #connections: Connections;
  readonly #limit: number;
  readonly #quota: RecordQuota;

  /** @param limit the maximum number of records of one caller */
  constructor(
    reader: Reader,
    creates: Creates,
    connections: Connections,
    limit: number = RECORDS_PER_CALLER,
  ) {
    this.#reader = reader;
    this.#creates = creates;
    this.#connections = connections;
    this.#limit = limit;
    this.#quota = new RecordQuota(limit, async (caller) => {
      const [count, oldestAt] = await this.#count(COUNT_OF, [caller]);
      return { count: Number(count), oldestAt: oldestAt === null ? undefined : Number(oldestAt) };
    });
  }

  async add({ name, categoryId, status }: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    const pet: NewPet = { name, categoryId, status };
    const reserving = this.#quota.reserveRecord(attempt.caller);
    const oldestAt = reserving && (await Promise.race([reserving, this.#late()]));
    if (oldestAt !== undefined) {
      const replay = await this.#replay(attempt);
      if (replay === undefined) throw tooManyRecords(this.#limit, attempt, oldestAt);
      return replay;
    }
    for (let count = 0; count < ATTEMPTS; count++) {
      const id = await this.#creates.addCreate({ pet, attempt });
      if (id !== undefined) return { pet: Object.freeze({ id, ...pet }), isReplay: false };
      const replay = await this.#replay(attempt);
      if (replay !== undefined) return replay;
    }
    throw new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry');
  }

  async count(): Promise<number> {
    return Number((await this.#count(COUNT))[0]);
  }

  async removeRecords(createdBefore: number, limit: number): Promise<number> {
    return (await this.#connections.write(REMOVE, [createdBefore, limit])).length;
  }

  async redateRecords(now: number, limit: number): Promise<number> {
    return (await this.#connections.write(REDATE, [now, limit])).length;
  }

  /** Resolves with the pet of the valid record, or with `undefined` when there is no valid record. */
  async #replay({ caller, key, validFrom }: CreateAttempt): Promise<CreateResult | undefined> {
    const values = [caller, key, validFrom];
    const [row] = await this.#reader.query({ name: 'find-record', text: FIND, values });
    return row && { pet: petOf(row), isReplay: true };
  }

  /** Counting can take long. */
  async #count(text: string, values?: unknown[]): Promise<Row> {
    const { run, release } = await this.#connections.openSession(true);
    try {
      const [row = []] = await run(text, values);
      return row;
    } finally {
      release();
    }
  }

  /** Rejects at the deadline of a call. The count of the records itself continues. */
  async #late(): Promise<never> {
    await delay(this.#connections.waitTimeout, undefined, { ref: false });
    const message = 'counting the idempotency keys of this API key takes long: nothing was stored';
    throw new AnimalStoreError('storage_unavailable', message);
  }
}
