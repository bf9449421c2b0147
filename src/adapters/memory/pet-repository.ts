import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import { idsNotAccepted } from '../../application/ports/pet-transfer.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { matches, type PetFilter } from '../../domain/pet-filter.ts';
import { idsExhausted } from '../storage-kit/ids-left.ts';

/** A write: the id of a created pet, or the id of another pet with the revision of its change or removal. */
export type LoggedWrite = bigint | { readonly id: bigint; readonly revision: bigint };

/** Stores the pets in an array, in ascending order of id. Finds a pet by binary search, and filters by reading every pet. */
export class MemoryPetRepository implements PetRepository {
  readonly #all: Pet[] = [];
  readonly #closed: AbortSignal;
  /** The greatest number assigned so far, or 0. */
  lastId = 0n;
  /** The writes in the order of their numbers. */
  log: LoggedWrite[] = [];

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
  addWithIds(pets: readonly Pet[]): void {
    this.#closed.throwIfAborted();
    if (this.lastId !== 0n) throw idsNotAccepted();
    for (const pet of pets.toSorted((a, b) => (a.id < b.id ? -1 : 1))) this.#push(pet.id, pet);
  }

  async find(id: bigint): Promise<Pet | undefined> {
    return this.findNow(id);
  }

  findNow(id: bigint): Pet | undefined {
    this.#closed.throwIfAborted();
    const pet = this.#all[this.#indexAfter(id) - 1];
    return pet?.id === id ? pet : undefined;
  }

  /** Returns all matching pets as they are now. */
  snapshot(filter: PetFilter): readonly Pet[] {
    this.#closed.throwIfAborted();
    return this.#all.filter((pet) => matches(pet, filter));
  }

  async list({ limit, after = 0n, ...filter }: PetQuery): Promise<PetPage> {
    this.#closed.throwIfAborted();
    const found: Pet[] = [];
    for (let index = this.#indexAfter(after); index < this.#all.length && found.length <= limit; index += 1) {
      const pet = this.#all[index] as Pet;
      if (matches(pet, filter)) found.push(pet);
    }
    return Object.freeze({ pets: Object.freeze(found.slice(0, limit)), more: found.length > limit });
  }

  /** Replaces or removes a stored pet, and returns the number of the write. */
  replaceNow(id: bigint, changed: Pet | undefined): bigint {
    this.assertIdsLeft(1);
    this.lastId += 1n;
    this.log.push({ id, revision: this.lastId });
    this.#all.splice(this.#indexAfter(id) - 1, 1, ...(changed ? [changed] : []));
    return this.lastId;
  }

  assertIdsLeft(count: number): void {
    if (this.lastId > INT64_MAX - BigInt(count)) throw idsExhausted();
  }

  #push(id: bigint, attributes: NewPet): Pet {
    const pet = storedPet(id, attributes);
    this.lastId = id;
    this.log.push(id);
    this.#all.push(pet);
    return pet;
  }

  #indexAfter(id: bigint): number {
    return countUpTo(this.#all, id, (pet) => pet.id);
  }
}

/** Returns how many items have a number up to `last`. The numbers ascend. */
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
