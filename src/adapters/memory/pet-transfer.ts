import { nextTurn } from '../../application/next-turn.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../application/ports/pet-transfer.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

/** The maximum number of pets in a batch of an export. */
const BATCH_SIZE = 1000;

/**
 * Imports and exports pets in memory. An import first reads all batches, and then adds all pets to the repository in
 * one step.
 */
export class MemoryPetTransfer implements PetTransfer {
  readonly #pets: MemoryPetRepository;

  constructor(pets: MemoryPetRepository) {
    this.#pets = pets;
  }

  async importPets(
    batches: AsyncIterable<readonly (NewPet | Pet)[]>,
    { onDuplicateId, onProgress, signal }: TransferOptions,
  ): Promise<number> {
    const newPets: NewPet[] = [];
    const petsById = new Map<bigint, Pet>();
    for await (const batch of batches) {
      signal?.throwIfAborted();
      for (const pet of batch) {
        if (!('id' in pet)) newPets.push(pet);
        else if (this.#pets.lastId !== 0n) throw idsNotAccepted();
        else if (petsById.has(pet.id)) onDuplicateId(pet);
        else petsById.set(pet.id, pet);
      }
    }
    // An exception of `onProgress` or an abort must end the import before any pet is added, so `onProgress` and the
    // signal are handled first.
    const count = newPets.length + petsById.size;
    onProgress?.(count);
    signal?.throwIfAborted();
    if (petsById.size > 0) this.#pets.addWithIds([...petsById.values()]);
    else this.#pets.addAll(newPets);
    return count;
  }

  /**
   * Exports only the pets that existed at the start of the export. Later pets are recognized by their greater ids. No
   * pet is ever changed or deleted, so the exported pets are a snapshot.
   */
  async *exportPets({ status }: Pick<PetQuery, 'status'> = {}): AsyncGenerator<readonly Pet[]> {
    const { lastId } = this.#pets;
    for (let after = 0n; ; ) {
      const page = await this.#pets.list({ limit: BATCH_SIZE, status, after });
      const pets = page.pets.filter(({ id }) => id <= lastId);
      if (pets.length > 0) yield pets;
      if (!page.more || pets.length < page.pets.length) return;
      after = pets.at(-1)?.id ?? lastId;
      await nextTurn();
    }
  }
}
