import {
  type CreateAttempt,
  type CreateResult,
  daysOf,
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { type RecordCount, RecordQuota } from './record-quota.ts';

/** How often a create claims a key whose record is found neither valid nor old. */
const CLAIMS = 3;

/** What an engine does with the records of idempotency keys. */
export interface Records {
  /** Counts the records of a caller. */
  countOf(caller: string): Promise<RecordCount>;
  /** How long a create waits for the count, in milliseconds. */
  readonly countTimeout: number;
  /** Stores a pet and its record, and resolves with the id of the pet. Stores nothing when a valid record exists. */
  claim(pet: NewPet, attempt: CreateAttempt): Promise<bigint | undefined>;
  /** Resolves with the pet of a valid record. */
  find(attempt: CreateAttempt): Promise<Pet | undefined>;
}

/**
 * Returns a function that creates each pet exactly once.
 *
 * @param perDay the maximum number of records of one caller for each day that records are valid
 */
export function exactlyOnce(records: Records, perDay: number = RECORDS_PER_CALLER): IdempotentCreates['add'] {
  const quota = new RecordQuota(perDay, records.countOf);

  async function replay(attempt: CreateAttempt): Promise<CreateResult | undefined> {
    const pet = await records.find(attempt);
    return pet && { pet, isReplay: true };
  }

  return async ({ name, categoryId, status }, attempt) => {
    const reserving = quota.reserveRecord(attempt.caller, daysOf(attempt));
    const reservation =
      reserving instanceof Promise ? await inTime(reserving, records.countTimeout) : reserving;
    if (reservation !== 'reserved') {
      const refusal = tooManyRecords(perDay, attempt, reservation.oldestAt);
      return (await replay(attempt)) ?? Promise.reject(refusal);
    }
    // Most keys are new, so the record is stored first, and looked for only if it exists.
    for (let claims = 0; claims < CLAIMS; claims++) {
      const id = await records.claim({ name, categoryId, status }, attempt);
      if (id !== undefined) return { pet: Object.freeze({ id, name, categoryId, status }), isReplay: false };
      const replayed = await replay(attempt);
      if (replayed !== undefined) return replayed;
    }
    throw new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry');
  };
}

/** Rejects when a count takes longer than a call may take. The count itself continues, for later calls. */
async function inTime<T>(counting: Promise<T>, timeout: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const message = 'counting the idempotency keys of this API key takes long: nothing was stored';
  const timer = setTimeout(() => late.reject(new AnimalStoreError('storage_unavailable', message)), timeout);
  return await Promise.race([counting, late.promise]).finally(() => clearTimeout(timer));
}
