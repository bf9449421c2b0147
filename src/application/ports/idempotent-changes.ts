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

/** The valid record of an attempt's idempotency key, if any, and the newest version of the pet, both read at one moment. */
export interface AttemptState {
  readonly record: WriteRecord | undefined;
  /** The newest version, as `PetChanges.find` returns it. */
  readonly version: PetVersion | undefined;
}

/**
 * Changes and removes pets. Each write is stored in one transaction with the record of its idempotency key. A key has one record,
 * whether it was used for a change, a removal or a create. Every method can reject with `overloaded` and with
 * `storage_unavailable`.
 */
export interface IdempotentChanges {
  /** Reads the record and the version at one moment. The pets are frozen. */
  find(id: bigint, attempt: ChangeAttempt, options?: CallOptions): Promise<AttemptState>;

  /**
   * Like `PetChanges.replace`, but also stores a record of the attempt, with the pet as the response. When the key has a valid
   * record, stores nothing, and resolves with `undefined`.
   */
  replace(
    pet: Pet,
    expected: bigint,
    attempt: ChangeAttempt,
    options?: CallOptions,
  ): Promise<bigint | undefined>;

  /** Like `PetChanges.remove`, but also stores a record of the attempt. Resolves as {@link IdempotentChanges.replace} does. */
  remove(
    id: bigint,
    expected: bigint,
    attempt: ChangeAttempt,
    options?: CallOptions,
  ): Promise<bigint | undefined>;

  /**
   * Stores the record of an attempt that changes nothing. Resolves with `false`, and stores nothing, when the key has a valid
   * record.
   * @param pet the response; `undefined` for a removal
   */
  record(id: bigint, pet: Pet | undefined, attempt: ChangeAttempt, options?: CallOptions): Promise<boolean>;
}
