/** Creates pets exactly once. Converts the records of idempotency keys to columns (pet id, request, first response) and back. */

import { CREATE_REQUEST, type WriteRecord } from '../../application/ports/idempotent-changes.ts';
import type { CreateAttempt, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { keyConflict } from '../../domain/idempotency-key.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { newPetJson, parseStoredPets } from '../../domain/pet-json.ts';
import { type PetRow, petOf } from './pet-rows.ts';

/** Returns the response that a record stores. The response of a removal has only the id. */
export function responseOf(id: bigint, pet: Pet | undefined): string {
  return `{"id":${id}${pet === undefined ? '}' : responseAfterId(pet)}`;
}

/** Returns what follows the id. A space distinguishes a pet without attributes, `{"id":7 }`, from a removal, `{"id":7}`. */
export function responseAfterId(pet: NewPet): string {
  const attributes = newPetJson(pet).slice(1);
  return attributes === '}' ? ' }' : `,${attributes}`;
}

/**
 * Converts a row to a record. `request` is `undefined` if an older release has written the record. If an older release has reused
 * the record for another pet, the request and the response in the row are ignored.
 */
export function recordOf([petId, request, response]: readonly unknown[]): WriteRecord {
  if (typeof request !== 'string' || typeof response !== 'string')
    return { request: undefined, pet: undefined };
  if (response === responseOf(petId as bigint, undefined)) return { request, pet: undefined };
  const isOfPet = [',', ' '].some((next) => response.startsWith(`{"id":${petId}${next}`));
  const [pet] = isOfPet ? parseStoredPets(`[${response}]`) : [];
  return pet === undefined ? { request: undefined, pet } : { request, pet: storedPet(pet.id, pet) };
}

/** Returns the pet for a retried create: the first response's pet or, if an older release wrote the record, the stored pet. */
export function replayedPet(record: readonly unknown[], row: PetRow | undefined): Pet {
  const { request, pet } = recordOf(record);
  if (request === CREATE_REQUEST && pet !== undefined) return pet;
  if (request !== undefined) throw keyConflict('request');
  if (row === undefined) {
    const message = `the pet ${record[0]} of this idempotency key was removed: use a new key`;
    throw new AnimalStoreError('idempotency_conflict', message);
  }
  return petOf(row);
}

/** The maximum number of tries to claim a key. A try is repeated if the record that prevented the claim ends before it is read. */
const CLAIMS = 3;

/** The records of idempotency keys in a storage. */
export interface Records {
  /** Stores a pet and its record, and resolves with the pet. Stores nothing when a valid record exists. */
  claim(pet: NewPet, attempt: CreateAttempt): Promise<Pet | undefined>;
  /** Resolves with the pet of a valid record. Rejects with `idempotency_conflict` when a change or a removal stored the record. */
  find(attempt: CreateAttempt): Promise<Pet | undefined>;
}

/** Returns a function that creates each pet exactly once. */
export function exactlyOnce({ claim, find }: Records): IdempotentCreates['add'] {
  return async (given, attempt) => {
    // The caller may change `given` during the write.
    const pet = { ...given };
    // Most keys are new, so the key is claimed first. Its record is read only if the claim fails.
    for (let claims = 0; claims < CLAIMS; claims++) {
      const added = await claim(pet, attempt);
      if (added !== undefined) return { pet: added, isReplay: false };
      const found = await find(attempt);
      if (found !== undefined) return { pet: found, isReplay: true };
    }
    throw new AnimalStoreError('overloaded', 'other attempts use this idempotency key: retry');
  };
}
