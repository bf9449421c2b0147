/** Converts the records of idempotency keys to columns and back: the id of the pet, the request, and the first response. */

import { CREATE_REQUEST, type WriteRecord } from '../../application/ports/idempotent-changes.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { keyConflict } from '../../domain/idempotency-key.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import { parseStoredPets, petJson } from '../../domain/pet-json.ts';
import { type PetRow, petOf } from './pet-rows.ts';

/** Returns the response to store. That of a removal has the id alone. */
export function responseOf(id: bigint, pet: Pet | undefined): string {
  return pet === undefined ? `{"id":${id}}` : petJson(pet);
}

/**
 * Reads a record. Its request is unknown if an older release has written the record, which then has no request, or has
 * renewed it for another pet, which then has no response of its own.
 */
export function recordOf([petId, request, response]: readonly unknown[]): WriteRecord {
  if (typeof request !== 'string' || typeof response !== 'string')
    return { request: undefined, pet: undefined };
  if (response === responseOf(petId as bigint, undefined)) return { request, pet: undefined };
  const isOfPet = response.startsWith(`{"id":${petId},`);
  const [pet] = isOfPet ? parseStoredPets(`[${response}]`) : [];
  return pet === undefined ? { request: undefined, pet } : { request, pet: storedPet(pet.id, pet) };
}

/** Returns the pet of the record of a create: the first response, or for a record of an older release the stored pet. */
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
