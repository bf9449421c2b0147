import type { CreateAttempt, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';

/** The maximum number of attempts to claim a key. Between a claim and the look for its record, the record can end. */
const CLAIMS = 3;

/** The records of idempotency keys in a storage. */
export interface Records {
  /** Stores a pet and its record, and resolves with the pet. Stores nothing when a valid record exists. */
  claim(pet: NewPet, attempt: CreateAttempt): Promise<Pet | undefined>;
  /** Resolves with the pet of a valid record. Rejects with `idempotency_conflict` when the record is not of a create. */
  find(attempt: CreateAttempt): Promise<Pet | undefined>;
}

/** Returns a function that creates each pet exactly once. */
export function exactlyOnce({ claim, find }: Records): IdempotentCreates['add'] {
  return async (given, attempt) => {
    // The caller may change its object in the meantime.
    const pet = { ...given };
    // Most keys are new, so the record is stored first, and looked for only if it exists.
    for (let claims = 0; claims < CLAIMS; claims++) {
      const added = await claim(pet, attempt);
      if (added !== undefined) return { pet: added, isReplay: false };
      const found = await find(attempt);
      if (found !== undefined) return { pet: found, isReplay: true };
    }
    throw new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry');
  };
}
