/// <reference lib="esnext.disposable" preserve="true" />

import { AnimalStoreError } from '../domain/errors.ts';
import type { NewPetInput, Pet, PetStatus } from '../domain/pet.ts';
import { ApiKeys } from './api-keys.ts';
import { CreatePet } from './create-pet.ts';
import { GetPet } from './get-pet.ts';
import { LIMIT_MAX, LIMIT_MIN, ListPets } from './list-pets.ts';
import { nextTurn } from './next-turn.ts';
import type { PetPage, PetQuery, PetTransfer, Storage } from './ports.ts';

/** Which animals a walk gives. */
export interface PetWalk {
  /** Only animals in this state; all when left out. */
  readonly status?: PetStatus | undefined;
  /** Only animals whose id is greater; from the first when left out. */
  readonly after?: bigint | undefined;
  /** How many at the most, 1 or more; all when left out. */
  readonly limit?: number | undefined;
}

/** What a store needs underneath: a whole storage, or one without import and export, which HTTP does not ask for. */
export interface StoreStorage extends Omit<Storage, 'transfer'> {
  readonly transfer?: PetTransfer | undefined;
}

/**
 * The use cases over one storage, as one object, for a program that embeds them.
 * Any method can reject with an {@link AnimalStoreError}; once closed, all do, with `storage_unavailable`.
 */
export class AnimalStore implements AsyncDisposable {
  /** The ports underneath, for what is built on top of them, such as `createHttpApp` of `animal-store/http`. */
  readonly storage: StoreStorage;
  /** Issues, lists and ends the keys that HTTP clients need. */
  readonly apiKeys: ApiKeys;
  readonly #createPet: CreatePet;
  readonly #listPets: ListPets;
  readonly #getPet: GetPet;
  #closed: Promise<void> | undefined;

  /** @param storage is closed together with the store */
  constructor(storage: StoreStorage) {
    this.storage = storage;
    this.apiKeys = new ApiKeys(storage.apiKeys);
    this.#createPet = new CreatePet(storage.pets);
    this.#listPets = new ListPets(storage.pets);
    this.#getPet = new GetPet(storage.pets);
  }

  /**
   * Adds an animal, `available` when no status is given, and resolves with it once it is durable.
   * Rejects with `invalid_request` when the input breaks a rule; nothing is stored then.
   */
  async createPet(input: NewPetInput): Promise<Pet> {
    this.#refuseWhenClosed();
    return this.#createPet.execute(input);
  }

  /**
   * The animals that match, one after the other, in ascending order of id: every one that was there at the beginning
   * exactly once, whatever is added meanwhile. They are read in pages, and only as far as they are asked for.
   * Throws `invalid_request`, at the first step, when a value is out of its range.
   */
  async *listPets({ status, after, limit = Infinity }: PetWalk = {}): AsyncGenerator<Pet, void, undefined> {
    if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= LIMIT_MIN)) {
      throw new AnimalStoreError('invalid_request', `limit must be an integer of ${LIMIT_MIN} or more`);
    }
    let left = limit;
    let from = after;
    while (true) {
      const { pets, more } = await this.listPage({ status, after: from, limit: Math.min(left, LIMIT_MAX) });
      yield* pets;
      left -= pets.length;
      from = pets.at(-1)?.id;
      if (!more || left <= 0 || from === undefined) return;
      // A storage may answer at once, and a long walk must leave the event loop to others too.
      await nextTurn();
    }
  }

  /**
   * One page of the animals that match, as HTTP's `GET /pets` gives it: 1 to 100 of them, 20 when no limit is given.
   * The next page starts after the last id of this one.
   */
  async listPage(query: Partial<PetQuery> = {}): Promise<PetPage> {
    this.#refuseWhenClosed();
    return this.#listPets.execute(query);
  }

  /** The animal with this id. Rejects with `not_found` when there is none. */
  async getPet(id: bigint): Promise<Pet> {
    this.#refuseWhenClosed();
    return this.#getPet.execute(id);
  }

  /** Finishes what was accepted, then lets go of everything. May be called again. */
  close(): Promise<void> {
    this.#closed ??= this.storage.close();
    return this.#closed;
  }

  /** For `await using`: {@link AnimalStore.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #refuseWhenClosed(): void {
    if (this.#closed === undefined) return;
    throw new AnimalStoreError('storage_unavailable', 'the store is closed');
  }
}
