import type { NewPet, Pet } from '../../domain/pet.ts';
import type { CallOptions } from './pet-repository.ts';

/** Identifies a create. All attempts of a client to create the same pet have the same `caller` and `key`. */
export interface CreateAttempt {
  /** The id of the caller. Each caller has its own keys. */
  readonly caller: string;
  readonly key: string;
  /** The present time. Records that ended before it are ignored. In milliseconds since the Unix epoch. */
  readonly at: number;
  /** When a record that this attempt makes ends, in milliseconds since the Unix epoch. */
  readonly validUntil: number;
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
   * Stores a pet, as `PetRepository.add` does, and a record of the attempt in one transaction. When a record with the same
   * caller and the same key exists that ends at `at` or later, stores nothing, and resolves with the pet of this record, which
   * the caller compares. A record that ended earlier is replaced. Of concurrent attempts in all processes, one stores its pet.
   * Rejects with `internal_error` when the pet of the record no longer exists, because another program has removed it.
   */
  add(pet: NewPet, attempt: CreateAttempt, options?: CallOptions): Promise<CreateResult>;
}

/** The records of idempotency keys. Every method can reject with `overloaded` and with `storage_unavailable`. */
export interface IdempotencyRecords {
  /** Resolves with the number of stored records, including records that have ended. */
  count(): Promise<number>;

  /**
   * Removes records that ended before `now`, those that ended first, at most `limit`, and resolves with their number. No
   * record is removed earlier, whatever the client that removes it would have set as its end.
   */
  removeRecords(now: number, limit: number): Promise<number>;
}

/** A day in milliseconds. */
export const DAY: number = 24 * 60 * 60 * 1000;
