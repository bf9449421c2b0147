import type { NewPet, Pet } from '../../domain/pet.ts';
import type { CallOptions } from './pet-repository.ts';

/** The caller of a write, and the idempotency key with which it can retry the write. Each caller has its own keys. */
export interface Caller {
  /** Well-formed text of at most 500 Unicode code points, without U+0000. Is empty for a program that uses the store directly. */
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

/**
 * Stores pets, each with a record of its idempotency key. Only the clock of the storage decides whether a record has ended. Every
 * method can reject with `overloaded` and with `storage_unavailable`.
 */
export interface IdempotentCreates {
  /**
   * Stores a pet, as `PetRepository.add` does, and a record of the attempt in one transaction. If the caller and key have a valid
   * record, stores nothing. If a create stored this record, resolves with the pet as it was created, and the use case compares this
   * pet with the requested one. If a change or a removal stored the record, rejects with `idempotency_conflict`. When several
   * processes make the same attempt at the same time, only one of them stores a pet.
   */
  add(pet: NewPet, attempt: CreateAttempt, options?: CallOptions): Promise<CreateResult>;
}

/** The records of idempotency keys. Every method can reject with `overloaded` and with `storage_unavailable`. */
export interface IdempotencyRecords {
  /** Resolves with the number of stored records, including records that have ended. */
  count(): Promise<number>;

  /** Removes at most `limit` ended records, and resolves with their number. Each record contains the time at which it ends. */
  removeRecords(limit: number): Promise<number>;
}

/** A day in milliseconds. */
export const DAY: number = 24 * 60 * 60 * 1000;
