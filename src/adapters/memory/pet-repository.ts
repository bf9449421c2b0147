import type { PetPage, PetQuery, PetRepository } from '../../application/ports.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet, Pet, PetStatus } from '../../domain/pet.ts';

/** The animals in arrays that are ascending by id, so that every look-up is a binary search. */
export class MemoryPetRepository implements PetRepository {
  readonly #all: Pet[] = [];
  readonly #byStatus = new Map<PetStatus, Pet[]>();
  #lastId = 0n;

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    if (this.#lastId === INT64_MAX) {
      throw new AnimalStoreError('storage_unavailable', 'every id has been given away');
    }
    this.#lastId += 1n;
    const pet: Pet = Object.freeze({ id: this.#lastId, name, categoryId, status });
    this.#all.push(pet);
    this.#withStatus(status).push(pet);
    return pet;
  }

  async find(id: bigint): Promise<Pet | undefined> {
    const pet = this.#all[indexAfter(this.#all, id) - 1];
    return pet?.id === id ? pet : undefined;
  }

  async list({ limit, status, after }: PetQuery): Promise<PetPage> {
    const pets = status === undefined ? this.#all : this.#withStatus(status);
    const start = after === undefined ? 0 : indexAfter(pets, after);
    const page = Object.freeze(pets.slice(start, start + limit));
    return Object.freeze({ pets: page, more: start + limit < pets.length });
  }

  #withStatus(status: PetStatus): Pet[] {
    const pets = this.#byStatus.get(status) ?? [];
    if (pets.length === 0) this.#byStatus.set(status, pets);
    return pets;
  }
}

/** The index of the first animal whose id is greater. */
function indexAfter(pets: readonly Pet[], id: bigint): number {
  let low = 0;
  let high = pets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pets[middle] as Pet).id <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
