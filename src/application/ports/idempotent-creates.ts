import type { NewPet, Pet } from '../../domain/pet.ts';
import type { CallOptions } from './pet-repository.ts';

/** The caller of a write, and the key with which it can retry the write. Each caller has its own keys. */
export interface Caller {
  readonly caller: string;
  readonly key: string;
}

/** Identifies a create: all attempts to create the same pet have the same `caller` and `key`. */
export interface CreateAttempt extends Caller {
  /** The lifetime of the record that this attempt stores, in milliseconds. */
  readonly validFor: number;
}

/** The result of an attempt. */
export interface CreateResult {
  readonly pet: Pet;
  /** Whether an earlier attempt has stored the pet. */
  readonly isReplay: boolean;
}

/** Stores pets, each with a record of its idempotency key. Only the clock of the storage decides whether a record has ended. */
export interface IdempotentCreates {
  /**
   * Stores a pet, as `PetRepository.add` does, and a record of the attempt in one transaction. If the caller and key have a valid
   * record, stores nothing, even if several processes make the attempt at once. Then resolves with the pet as it was created, which
   * the use case compares with the requested one, or rejects with `idempotency_conflict` if the record is of another kind of write.
   */
  add(pet: NewPet, attempt: CreateAttempt, options?: CallOptions): Promise<CreateResult>;
}

/** The records of idempotency keys. Each record contains the time at which it ends. */
export interface IdempotencyRecords {
  /** Resolves with the number of stored records, including ended ones. */
  count(): Promise<number>;

  /** Removes at most `limit` ended records, and resolves with their number. */
  removeRecords(limit: number): Promise<number>;
}

/** A day in milliseconds. */
export const DAY: number = 24 * 60 * 60 * 1000;
