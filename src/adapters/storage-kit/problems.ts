/** Describes problems of stored data: pets that break a rule, and ids that are used up. */

import type { Problem } from '../../application/ports/maintenance.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type Pet, petFault } from '../../domain/pet.ts';

/** The maximum number of invalid pets that a diagnosis names. */
const NAMED = 10;
/** The number of invalid pets after which a storage that reads pets in pages can stop reading. */
export const INVALID_PETS_LIMIT: number = NAMED + 1;

/** Returns a problem for each of the first ten pets that break a rule, and one for all others. Stops at the eleventh such pet. */
export function invalidPetProblems(pets: Iterable<Pet>): Problem[] {
  const messages: string[] = [];
  for (const pet of pets) {
    const fault = petFault(pet);
    if (fault === undefined) continue;
    if (messages.length === NAMED) {
      messages.push('more pets break a rule');
      break;
    }
    messages.push(`pet ${pet.id} was changed by another program, or is older than the rule: ${fault}`);
  }
  return messages.map((message) => ({ severity: 'error', message }));
}

/** @param lastId the greatest id that was assigned */
export function idProblems(lastId: bigint): Problem[] {
  if (lastId < INT64_MAX) return [];
  const text = `${idsExhausted().message}: export the pets, and import them without their ids into a new store`;
  return [{ severity: 'error', message: text }];
}

export function idsExhausted(): StorageFault {
  return new StorageFault('ids_exhausted', 'all ids have been assigned');
}
