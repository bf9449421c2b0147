import type { Problem } from '../../application/ports/maintenance.ts';
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
