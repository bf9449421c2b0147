import type { IdempotentChanges } from '../../application/ports/idempotent-changes.ts';
import { storedPet } from '../../domain/pet.ts';
import type { MemoryIdempotentCreates } from './idempotent-creates.ts';
import type { MemoryPetChanges } from './pet-changes.ts';

/** Stores each change and its record in one step. */
export function memoryIdempotentChanges(
  changes: MemoryPetChanges,
  records: MemoryIdempotentCreates,
): IdempotentChanges {
  return {
    find: async (id, attempt) => ({ version: changes.findNow(id), record: records.find(attempt) }),
    async replace(pet, expected, attempt) {
      const changed = storedPet(pet.id, pet);
      const isKnown = records.find(attempt) !== undefined;
      const revision = isKnown ? undefined : changes.writeNow(pet.id, changed, expected);
      if (revision !== undefined) records.set(attempt, changed);
      return revision;
    },
    async remove(id, expected, attempt) {
      const isKnown = records.find(attempt) !== undefined;
      const revision = isKnown ? undefined : changes.writeNow(id, undefined, expected);
      if (revision !== undefined) records.set(attempt, undefined);
      return revision;
    },
    async record(_id, pet, attempt) {
      if (records.find(attempt) !== undefined) return false;
      records.set(attempt, pet);
      return true;
    },
  };
}
