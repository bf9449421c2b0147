/** Imports pets into memory, and exports them. */

import { nextTurn } from '../../application/pause.ts';
import { idsNotAccepted, type PetTransfer } from '../../application/ports/pet-transfer.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

const EXPORT_SIZE = 1000;

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
      repository.assertIdsLeft(newPets.length);
      for (const pet of newPets) repository.addNow(pet);
      return count;
    },

    /** Exports each pet as it is when its batch is read. */
    async *exportPets(filter = {}) {
      const last = repository.lastId;
      const read = (after?: bigint) =>
        repository.selectNow((pet) => matches(pet, filter), EXPORT_SIZE, after, last);
      for (let pets = read(); pets.length > 0; pets = read(pets.at(-1)?.id)) {
        yield pets;
        await nextTurn();
      }
    },
  };
}
