import type { AnimalStore } from '../application/animal-store.ts';
import { checkOptions } from '../application/arguments.ts';
import { CreatePet } from '../application/create-pet.ts';
import { CreatePetOnce } from '../application/create-pet-once.ts';
import { GetPet } from '../application/get-pet.ts';
import { ListPets, type PetPageQuery } from '../application/list-pets.ts';
import type { CallOptions, PetPage } from '../application/ports/pet-repository.ts';
import type { Storage } from '../application/ports/storage.ts';
import {
  CALL_OPTIONS,
  CREATE_OPTIONS,
  type CreateOptions,
  type PetWalk,
} from '../application/store-options.ts';
import { walkPets } from '../application/walk-pets.ts';
import type { NewPetInput, Pet } from '../domain/pet.ts';

/**
 * The methods of an `AnimalStore` that the API has operations for. Every `AnimalStore` is a `PetStore` too, so a program
 * that takes a `PetStore` can be tested with a store in memory.
 */
export type PetStore = Pick<
  AnimalStore,
  'createPet' | 'getPet' | 'listPets' | 'listPage' | 'check' | 'close' | typeof Symbol.asyncDispose
>;

/** The store of a server, without the use cases that only the server has, which would double the size of a web page. */
export class ApiStore implements PetStore {
  readonly #storage: Storage;

  /** @param storage a storage whose methods reject after `close` */
  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async createPet(input: NewPetInput, options: CreateOptions = {}): Promise<Pet> {
    checkOptions(options, CREATE_OPTIONS);
    const { idempotencyKey: key, ...call } = options;
    const { pets, idempotentCreates } = this.#storage;
    if (key === undefined) return await new CreatePet(pets).execute(input, call);
    return (await new CreatePetOnce(idempotentCreates).execute(input, '', key, call)).pet;
  }

  listPets(query?: PetWalk, options?: CallOptions): AsyncGenerator<Pet, void, undefined> {
    const { pets } = this.#storage;
    return walkPets(
      async (page, previous) =>
        (previous && (await pets.next?.(previous, options))) ?? (await this.listPage(page, options)),
      query,
    );
  }

  async listPage(query?: PetPageQuery, options: CallOptions = {}): Promise<PetPage> {
    checkOptions(options, CALL_OPTIONS);
    return await new ListPets(this.#storage.pets).execute(query, options);
  }

  async getPet(id: bigint | number, options: CallOptions = {}): Promise<Pet> {
    checkOptions(options, CALL_OPTIONS);
    return await new GetPet(this.#storage.pets).execute(id, options);
  }

  check(): Promise<void> {
    return this.#storage.check();
  }

  close(): Promise<void> {
    return this.#storage.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
