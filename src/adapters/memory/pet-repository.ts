/** Pets in memory, in an array in ascending order of id. A pet is found by binary search. Filters read the pets one by one. */

import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import { idsNotAccepted } from '../../application/ports/pet-transfer.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';
import { idsExhausted } from '../storage-kit/problems.ts';

export class MemoryPetRepository implements PetRepository {
  readonly #all: Pet[] = [];
  readonly #closed: AbortSignal;
  /** The greatest id or revision that was assigned, or 0. */
  lastId = 0n;

  constructor(closed: AbortSignal = new AbortController().signal) {
    this.#closed = closed;
  }

  async add(pet: NewPet): Promise<Pet> {
    return this.addNow(pet);
  }

  /** Adds a pet synchronously, so that the caller can store an idempotency record in the same step. */
  addNow(pet: NewPet): Pet {
    this.assertIdsLeft(1);
    return this.#push(this.lastId + 1n, pet);
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
    const pet = this.#all[this.#countUpTo(id) - 1];
    return pet?.id === id ? pet : undefined;
  }

  async list({ limit, after, ...filter }: PetQuery): Promise<PetPage> {
    const found = this.selectNow((pet) => matches(pet, filter), limit + 1, after);
    return Object.freeze({ pets: Object.freeze(found.slice(0, limit)), more: found.length > limit });
  }

  /** Of the pets with ids above `after` and up to `last`, returns the first `limit` for which `accepts` returns true. */
  selectNow(
    accepts: (pet: Pet) => boolean,
    limit: number = Infinity,
    after = 0n,
    last: bigint = INT64_MAX,
  ): Pet[] {
    this.#closed.throwIfAborted();
    const found: Pet[] = [];
    const end = this.#countUpTo(last);
    for (let index = this.#countUpTo(after); index < end && found.length < limit; index += 1) {
      const pet = this.#all[index] as Pet;
      if (accepts(pet)) found.push(pet);
    }
    return found;
  }

  /** Replaces or removes a stored pet, and returns its new revision. */
  replaceNow(id: bigint, changed: Pet | undefined): bigint {
    this.assertIdsLeft(1);
    this.lastId += 1n;
    this.#all.splice(this.#countUpTo(id) - 1, 1, ...(changed ? [changed] : []));
    return this.lastId;
  }

  assertIdsLeft(count: number): void {
    this.#closed.throwIfAborted();
    if (this.lastId > INT64_MAX - BigInt(count)) throw idsExhausted();
  }

  #push(id: bigint, attributes: NewPet): Pet {
    const pet = storedPet(id, attributes);
    this.lastId = id;
    this.#all.push(pet);
    return pet;
  }

  /** Returns how many pets have an id up to `last`. */
  #countUpTo(last: bigint): number {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#all[middle] as Pet).id <= last) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
