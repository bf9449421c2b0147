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
   * compares. Of concurrent attempts in all processes, one stores its pet.
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
