import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { CallOptions } from './pet-repository.ts';

/** Identifies a create. All attempts of a client to create the same pet have the same `caller` and `key`. */
export interface CreateAttempt {
  /** The id of the caller. Each caller has its own keys. */
  readonly caller: string;
  readonly key: string;
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  /** Records from before this time are ignored, in milliseconds since the Unix epoch. */
  readonly validFrom: number;
}

/** The result of an attempt. */
export interface CreateResult {
  readonly pet: Pet;
  /** Whether an earlier attempt has stored the pet. */
  readonly isReplay: boolean;
}

/**
 * Stores pets, each with a record of the idempotency key with which it was created. Every method can reject with
 * `overloaded` and with `storage_unavailable`.
 */
export interface IdempotentCreates {
  /**
   * Stores a pet, as `PetRepository.add` does, and a record of the attempt in one transaction. When a valid record with
   * the same caller and the same key exists, stores nothing, and resolves with the pet of this record, which the caller
   * compares. Of concurrent attempts in all processes, one stores its pet. Rejects with `rate_limited` when the caller
   * has {@link RECORDS_PER_CALLER} records for each day that records are valid.
   */
  add(pet: NewPet, attempt: CreateAttempt, options?: CallOptions): Promise<CreateResult>;

  /**
   * Promises that records stay valid for `days` days from `now` on, and resolves with the largest number of days that any
   * client of the store has promised. A promise ends when it was not repeated for `days` days, or for one day more.
   */
  promiseDays(days: number, now: number): Promise<number>;

  /** Resolves with the number of stored records, including records that are no longer valid. */
  count(): Promise<number>;

  /** Removes the oldest records from before `createdBefore`, at most `limit`, and resolves with their number. */
  removeRecords(createdBefore: number, limit: number): Promise<number>;

  /**
   * Sets the time of records from after `now` to `now`, for at most `limit` records, and resolves with their number. Such
   * records exist after the clock was set back.
   */
  redateRecords(now: number, limit: number): Promise<number>;
}

/** A day in milliseconds. */
export const DAY: number = 24 * 60 * 60 * 1000;

/** Of one caller, for each day that records are valid. A storage that several processes use may exceed it by a quarter for each further process. */
export const RECORDS_PER_CALLER = 1_000_000;

/** In milliseconds. Records are removed once a minute, and counted once a minute for a caller that reached the limit. */
const REMOVAL_DELAY = 120_000;

type Lifetime = Pick<CreateAttempt, 'at' | 'validFrom'>;

/** Returns the number of days that records are valid. */
export function daysOf({ at, validFrom }: Lifetime): number {
  return Math.max(1, Math.round((at - validFrom) / DAY));
}

/** @param oldestAt the time of the oldest record of the caller, in milliseconds since the Unix epoch */
export function tooManyRecords(
  perDay: number,
  { at, validFrom }: Lifetime,
  oldestAt: number,
): AnimalStoreError {
  // A record from the future gets the present time when old records are removed.
  const validFor = Math.max(0, Math.min(oldestAt, at) - validFrom);
  const retryAfter = Math.ceil((validFor + REMOVAL_DELAY) / 1000);
  const days = daysOf({ at, validFrom });
  return new AnimalStoreError(
    'rate_limited',
    `this API key has used ${perDay * days} idempotency keys within ${days === 1 ? '24 hours' : `${days} days`}: retry after ${retryAfter} s, or create the pet without a key`,
    { retryAfter },
  );
}
