import { nextTurn } from '../../application/next-turn.ts';
import type { ImportOptions, PetQuery, PetTransfer } from '../../application/ports.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

const BATCH_SIZE = 1000;

/** Gathers an import beside the store, and adds it at once. */
export class MemoryPetTransfer implements PetTransfer {
  readonly #pets: MemoryPetRepository;

  constructor(pets: MemoryPetRepository) {
    this.#pets = pets;
  }

  async importPets(
    batches: AsyncIterable<readonly (NewPet | Pet)[]>,
    { onTaken, onStored, signal }: ImportOptions = {},
  ): Promise<number> {
    const newPets: NewPet[] = [];
    const petsById = new Map<bigint, Pet>();
    for await (const batch of batches) {
      signal?.throwIfAborted();
      for (const pet of batch) {
        if (!('id' in pet)) newPets.push(pet);
        else if (!petsById.has(pet.id)) petsById.set(pet.id, pet);
        else if (onTaken !== undefined) onTaken(pet);
        else throw invalid(`id ${pet.id} is given twice`);
      }
      if (newPets.length > 0 && petsById.size > 0) throw invalid('either all animals have an id or none');
    }
    signal?.throwIfAborted();
    if (petsById.size > 0) this.#pets.addWithIds([...petsById.values()]);
    else this.#pets.addAll(newPets);
    onStored?.(newPets.length + petsById.size);
    return newPets.length + petsById.size;
  }

  /** Animals are only ever added behind the last one, so all up to that are a snapshot. */
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

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}
