import type { Pet } from '../../domain/pet.ts';

/** Identifies a create. All attempts of a client to create the same pet have the same `caller` and `key`. */
export interface CreateAttempt {
  /** The id of the caller. Each caller has its own keys. */
  readonly caller: string;
  /** The idempotency key that the caller has chosen. */
  readonly key: string;
  /** The time of the attempt, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Records from before this time are ignored, in milliseconds since the Unix epoch. */
  readonly validFrom: number;
}

/** The result of an attempt. */
export interface CreateResult {
  /** The pet that the first attempt with this caller and this key has stored. */
  readonly pet: Pet;
  /** Whether an earlier attempt has stored the pet, so that this attempt has stored nothing. */
  readonly isReplay: boolean;
}
