import type { Pet } from '../../domain/pet.ts';
import type { CreateAttempt } from './idempotent-creates.ts';
import type { PetVersion } from './pet-changes.ts';
import type { CallOptions } from './pet-repository.ts';

/** The value of `request` in the record of a create. */
export const CREATE_REQUEST = 'create';

/** Identifies a change or a removal. */
export interface ChangeAttempt extends CreateAttempt {
  /** Describes the request. Equal requests have equal texts, which differ from {@link CREATE_REQUEST}. */
  readonly request: string;
}

/** The record of a write that was made with an idempotency key. */
export interface WriteRecord {
  /** `undefined` in a record that an older release has written. */
  readonly request: string | undefined;
  /** The pet in the first response; `undefined` for a removal. */
  readonly pet: Pet | undefined;
}

/** The valid record of the key of an attempt, if any, and the version as `PetChanges.find` returns it. */
export interface AttemptState {
  readonly record: WriteRecord | undefined;
  readonly version: PetVersion | undefined;
}

/**
 * Changes and removes pets. Each write is stored in one transaction with the record of its idempotency key. Changes, removals and
 * creates share these records.
 */
export interface IdempotentChanges {
  /** Reads the record and the pet at one moment. */
  find(id: bigint, attempt: ChangeAttempt, options?: CallOptions): Promise<AttemptState>;

  /** Like `PetChanges.replace`, but also stores a record. Only resolves with `undefined` if the key has a valid record. */
  replace(
    pet: Pet,
    expected: bigint,
    attempt: ChangeAttempt,
    options?: CallOptions,
  ): Promise<bigint | undefined>;

  /** Like `PetChanges.remove`, with a record as {@link IdempotentChanges.replace} stores it. */
  remove(
    id: bigint,
    expected: bigint,
    attempt: ChangeAttempt,
    options?: CallOptions,
  ): Promise<bigint | undefined>;

  /** Stores only a record, with the pet of the response. Only resolves with `false` if the key has a valid record. */
  record(id: bigint, pet: Pet | undefined, attempt: ChangeAttempt, options?: CallOptions): Promise<boolean>;
}
