import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import { type ExportFilter, idsNotAccepted, type PetsWithIds } from '../../application/ports/pet-transfer.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { matches, PET_FILTERS, type PetFilter } from '../../domain/pet-filter.ts';
import { idsExhausted } from '../storage-kit/ids-left.ts';

/** Stores the pets in arrays, in ascending order of id. Finds a pet by binary search. */
export class MemoryPetRepository implements PetRepository {
  readonly #all: Pet[] = [];
  /** By each attribute with a filter, and its value. */
  readonly #index = new Map(PET_FILTERS.map((name) => [name, new Map<unknown, Pet[]>()]));
  readonly #closed: AbortSignal;
  /** The greatest id assigned so far, or 0 when no id was assigned. */
  lastId = 0n;

  constructor(closed: AbortSignal = new AbortController().signal) {
    this.#closed = closed;
  }

  async add(pet: NewPet): Promise<Pet> {
    return this.addNow(pet);
  }

  /** Adds a pet synchronously, so that the caller can add its own data in the same step. */
  addNow(pet: NewPet): Pet {
    return this.addAll([pet])[0] as Pet;
  }

  /** Adds all pets. Throws and adds no pet when not enough ids are left. */
  addAll(pets: readonly NewPet[]): Pet[] {
    this.#closed.throwIfAborted();
    this.assertIdsLeft(pets.length);
    return pets.map((pet) => this.#push(this.lastId + 1n, pet));
  }

  /** Adds all pets with their ids, which must be distinct. Throws when the repository has ever had a pet. */
  addWithIds(pets: PetsWithIds): void {
    this.#closed.throwIfAborted();
    if (this.lastId !== 0n) throw idsNotAccepted();
    for (const pet of pets.toSorted((a, b) => (a.id < b.id ? -1 : 1))) this.#push(pet.id, pet);
  }

  async find(id: bigint): Promise<Pet | undefined> {
    return this.findNow(id);
  }

  findNow(id: bigint): Pet | undefined {
    this.#closed.throwIfAborted();
    const pet = this.#all[indexAfter(this.#all, id) - 1];
    return pet?.id === id ? pet : undefined;
  }

  /** Returns all matching pets as they are now. */
  snapshot(filter: ExportFilter): readonly Pet[] {
    this.#closed.throwIfAborted();
    return this.#candidates(filter).filter((pet) => matches(pet, filter));
  }

  async list({ limit, after, ...filter }: PetQuery): Promise<PetPage> {
    this.#closed.throwIfAborted();
    const candidates = this.#candidates(filter);
    const found: Pet[] = [];
    let index = after === undefined ? 0 : indexAfter(candidates, after);
    for (; index < candidates.length && found.length <= limit; index += 1) {
      const pet = candidates[index] as Pet;
      if (matches(pet, filter)) found.push(pet);
    }
    return Object.freeze({ pets: Object.freeze(found.slice(0, limit)), more: found.length > limit });
  }

  /** Returns the pets with greater ids, at most `limit`. */
  petsAfter(id: bigint, limit: number): readonly Pet[] {
    this.#closed.throwIfAborted();
    const start = indexAfter(this.#all, id);
    return this.#all.slice(start, start + limit);
  }

  /** Assigns the next number to a change. */
  takeNumber(): bigint {
    this.assertIdsLeft(1);
    this.lastId += 1n;
    return this.lastId;
  }

  /** Replaces a stored pet, or removes it, at once. */
  replaceNow(id: bigint, changed: Pet | undefined): void {
    const index = indexAfter(this.#all, id) - 1;
    const before = this.#all[index] as Pet;
    this.#all.splice(index, 1, ...(changed ? [changed] : []));
    for (const [name, lists] of this.#index) {
      const left = listIn(lists, before[name]);
      left.splice(indexAfter(left, id) - 1, 1);
      if (left.length === 0) lists.delete(before[name]);
      const pets = changed && listIn(lists, changed[name]);
      if (changed) pets?.splice(indexAfter(pets, id), 0, changed);
    }
  }

  /** Returns pets among which are all that match: the fewest that the index has. */
  #candidates(filter: PetFilter): readonly Pet[] {
    let fewest = this.#all;
    for (const [name, lists] of this.#index) {
      const pets = filter[name] === undefined ? this.#all : (lists.get(filter[name]) ?? []);
      if (pets.length < fewest.length) fewest = pets;
    }
    return fewest;
  }

  #push(id: bigint, attributes: NewPet): Pet {
    const pet = storedPet(id, attributes);
    this.lastId = id;
    this.#all.push(pet);
    for (const [name, lists] of this.#index) listIn(lists, pet[name]).push(pet);
    return pet;
  }

  assertIdsLeft(count: number): void {
    if (this.lastId > INT64_MAX - BigInt(count)) throw idsExhausted();
  }
}

/** Returns the number of items, which are in ascending order, up to `last`. */
export function countUpTo<T>(items: readonly T[], last: bigint, numberOf: (item: T) => bigint): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberOf(items[middle] as T) <= last) low = middle + 1;
    else high = middle;
  }
  return low;
}

function listIn(lists: Map<unknown, Pet[]>, value: unknown): Pet[] {
  const pets = lists.get(value) ?? [];
  if (pets.length === 0) lists.set(value, pets);
  return pets;
}

/** Returns the number of pets with an id up to `id`. */
function indexAfter(pets: readonly Pet[], id: bigint): number {
  return countUpTo(pets, id, (pet) => pet.id);
}
