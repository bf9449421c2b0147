/** Describes problems of stored data: pets that break a rule, and ids that are used up. */

import type { Problem } from '../../application/ports/maintenance.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type Pet, petFault } from '../../domain/pet.ts';

/** The maximum number of invalid pets that a diagnosis names. */
const NAMED = 10;
/** The maximum number of invalid pets that a storage reads for {@link invalidPetProblems}. */
export const INVALID_PETS_LIMIT: number = NAMED + 1;

/** @param pets stored pets that break a rule, at most {@link INVALID_PETS_LIMIT} */
export function invalidPetProblems(pets: readonly Pet[]): Problem[] {
  const messages = pets.map((pet) => `pet ${pet.id} was changed by another program: ${petFault(pet)}`);
  if (pets.length > NAMED) messages.splice(NAMED, Infinity, 'more pets were changed by another program');
  return messages.map((message) => ({ severity: 'error', message }));
}

/** @param lastId the greatest id that was assigned */
export function idProblems(lastId: bigint): Problem[] {
  if (lastId < INT64_MAX) return [];
  const wayOut = 'export the pets, and import them without their ids into a new store';
  return [{ severity: 'error', message: `${idsExhausted().message}: ${wayOut}` }];
}

export function idsExhausted(): StorageFault {
  return new StorageFault('ids_exhausted', 'all ids have been assigned');
}
