import { nextTurn } from '../../application/next-turn.ts';
import { idsNotAccepted, type PetTransfer } from '../../application/ports/pet-transfer.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

/** The maximum number of pets in a batch of an export. */
const BATCH_SIZE = 1000;

export function memoryTransfer(repository: MemoryPetRepository): PetTransfer {
  return {
    /** Reads all batches first, and then adds all pets in one step. */
    async importPets(batches, { onDuplicateId, onProgress, signal }) {
      const newPets: NewPet[] = [];
      const petsById = new Map<bigint, Pet>();
      for await (const batch of batches) {
        signal?.throwIfAborted();
        for (const pet of batch) {
          if (!('id' in pet)) newPets.push(pet);
          else if (repository.lastId !== 0n) throw idsNotAccepted();
          else if (petsById.has(pet.id)) onDuplicateId(pet);
          else petsById.set(pet.id, pet);
        }
      }
      const count = newPets.length + petsById.size;
      // An exception of `onProgress`, or an abort, ends the import before any pet is added.
      onProgress?.(count);
      signal?.throwIfAborted();
      if (petsById.size > 0) repository.addWithIds([...petsById.values()]);
      else repository.addAll(newPets);
      return count;
    },

    /** Exports a snapshot: no pet ever changes, and pets that are added later have greater ids. */
    async *exportPets({ status } = {}) {
      const { lastId } = repository;
      for (let after = 0n; ; ) {
        const page = await repository.list({ limit: BATCH_SIZE, status, after });
        const pets = page.pets.filter(({ id }) => id <= lastId);
        if (pets.length > 0) yield pets;
        if (!page.more || pets.length < page.pets.length) return;
        after = pets.at(-1)?.id ?? lastId;
        await nextTurn();
      }
    },
  };
}
