import type { PetPage, PetQuery, PetRepository } from '../../application/ports.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet, Pet, PetStatus } from '../../domain/pet.ts';

/** The animals in arrays that are ascending by id, so that every look-up is a binary search. */
export class MemoryPetRepository implements PetRepository {
  readonly #all: Pet[] = [];
  readonly #byStatus = new Map<PetStatus, Pet[]>();
  #lastId = 0n;

  /** The greatest id that was given away, 0 when none was. */
  get lastId(): bigint {
    return this.#lastId;
  }

  async add(pet: NewPet): Promise<Pet> {
    this.#seeThatIdsAreLeft(1);
    return this.#push(this.#lastId + 1n, pet);
  }

  /** Adds all animals or none. */
  addAll(pets: readonly NewPet[]): void {
    this.#seeThatIdsAreLeft(pets.length);
    for (const pet of pets) this.#push(this.#lastId + 1n, pet);
  }

  /** Adds all animals or none. No two may have the same id. */
  addWithIds(pets: readonly Pet[]): void {
    if (this.#lastId !== 0n) {
      throw new AnimalStoreError(
        'invalid_request',
        'ids can be kept only in a store that never had an animal',
      );
    }
    for (const pet of pets.toSorted((a, b) => (a.id < b.id ? -1 : 1))) this.#push(pet.id, pet);
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

  #push(id: bigint, { name, categoryId, status }: NewPet): Pet {
    const pet: Pet = Object.freeze({ id, name, categoryId, status });
    this.#lastId = id;
    this.#all.push(pet);
    this.#withStatus(status).push(pet);
    return pet;
  }

  #seeThatIdsAreLeft(count: number): void {
    if (this.#lastId > INT64_MAX - BigInt(count)) {
      throw new AnimalStoreError('storage_unavailable', 'every id has been given away');
    }
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
