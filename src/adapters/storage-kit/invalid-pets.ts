import type { Problem } from '../../application/ports/maintenance.ts';
import { type Pet, petFault } from '../../domain/pet.ts';

/** How many invalid pets a diagnosis names. */
const NAMED = 10;
/** How many invalid pets a storage reads for {@link invalidPetProblems}. */
export const INVALID_PETS_LIMIT: number = NAMED + 1;

/** @param pets stored pets that break a rule, at most {@link INVALID_PETS_LIMIT} */
export function invalidPetProblems(pets: readonly Pet[]): Problem[] {
  const problems = pets
    .slice(0, NAMED)
    .map((pet) => problem(`pet ${pet.id} was changed by another program: ${petFault(pet)}`));
  return pets.length > NAMED ? [...problems, problem('more pets were changed by another program')] : problems;
}

function problem(message: string): Problem {
  return { severity: 'error', message };
}
