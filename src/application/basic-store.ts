/// <reference lib="esnext.disposable" preserve="true" />

import { AnimalStoreError } from '../domain/errors.ts';
import type { NewPetInput, Pet } from '../domain/pet.ts';
import { checkOptions } from './arguments.ts';
import { THIS_PROGRAM } from './create-pet.ts';
import { followPets } from './follow-pets.ts';
import type { PetPageQuery } from './list-pets.ts';
import type { CreateResult } from './ports/idempotent-creates.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import type { StoreStorage } from './ports/storage.ts';
import { type CreateOptions, checkCall, type FollowOptions, type PetWalk, QUERY } from './store-options.ts';
import { abortedCreate, untilAborted } from './until-aborted.ts';
import { createPetUseCases, type PetUseCases } from './use-cases.ts';
import { walkPages } from './walk-pages.ts';

/**
 * Creates and reads pets: the use cases that the API of a server has too. It is a class of its own because the client's
 * bundle has it alone: with `AnimalStore`, the bundle would be a quarter larger. Every method can reject with an
 * {@link AnimalStoreError}. After `close`, every other method rejects with `storage_unavailable`.
 */
export class BasicStore implements AsyncDisposable {
  readonly #storage: StoreStorage;
  readonly #useCases: PetUseCases;
  #closing: Promise<void> | undefined;

  /** @param storage the storage of the store; {@link BasicStore.close} closes this storage */
  constructor(storage: StoreStorage, useCases: PetUseCases = createPetUseCases(storage)) {
    this.#storage = storage;
    this.#useCases = useCases;
  }

  /**
   * Creates a pet, and resolves with the pet when it is durable. Rejects with `invalid_request` when the input breaks a
   * rule, and with `idempotency_conflict` when the idempotency key was used for a different pet.
   *
   * @example
   * ```ts
   * const pet = await store.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });
   * console.log(pet.id); // 1n
   * ```
   */
  async createPet(input: NewPetInput, options: CreateOptions = {}): Promise<Pet> {
    const { idempotencyKey: key, ...callOptions } = options;
    if (key !== undefined) return (await this.createPetOnce(input, THIS_PROGRAM, key, callOptions)).pet;
    this.assertCallable(callOptions);
    const creating = this.#useCases.createPet.execute(input, undefined, callOptions);
    return (await this.#ended(creating, callOptions, (signal) => abortedCreate(signal))).pet;
  }

  /** Creates a pet exactly once for each caller and idempotency key, as `CreatePet.execute` describes. */
  async createPetOnce(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    this.assertCallable(options);
    const creating = this.#useCases.createPet.execute(input, { caller, key }, options);
    return await this.#ended(creating, options, (signal) => abortedCreate(signal, key));
  }

  /**
   * Yields the matching pets in ascending order of id. Every matching pet that existed when the iteration began is
   * yielded exactly once, even while pets are added. A page is read when the caller needs its pets, and the timeout is for
   * each page. When a value of the query is out of range, the first call of `next` rejects with `invalid_request`.
   *
   * @example
   * ```ts
   * for await (const { name } of store.listPets({ status: 'available' })) console.log(name);
   * ```
   */
  async *listPets(query?: PetWalk, options?: CallOptions): AsyncGenerator<Pet, void, undefined> {
    for await (const pets of walkPages((page) => this.listPage(page, options), query)) yield* pets;
  }

  /**
   * Yields the matching pets in ascending order of id, and then each new one soon after it is visible, for ever. Each pet
   * is yielded exactly once. To go on later, set `after` to the id of the last pet. When the storage or the server is
   * unavailable after the first read, the iteration waits and goes on. Rejects when the first read fails, or the store is closed.
   *
   * @example
   * ```ts
   * await store.createPet({ name: 'Rex', categoryId: 7n });
   * for await (const { id, name } of store.followPets({ after: 0n })) {
   *   console.log(id, name); // 1n Rex
   *   break;
   * }
   * ```
   */
  followPets(options?: FollowOptions): AsyncGenerator<Pet, never, undefined> {
    return followPets(
      (query, call) => this.listPage(query, call),
      () => this.isClosed,
      options,
    );
  }

  /**
   * Resolves with one page of the matching pets in ascending order of id, as `GET /pets` does. Rejects with
   * `invalid_request` when a value of the query is out of range.
   *
   * @example
   * ```ts
   * const { pets, more } = await store.listPage({ limit: 100 });
   * const nextPage = more ? await store.listPage({ limit: 100, after: pets.at(-1)?.id }) : undefined;
   * ```
   */
  async listPage(query?: PetPageQuery, options?: CallOptions): Promise<PetPage> {
    this.assertCallable(options);
    if (query !== undefined) checkOptions(query, QUERY);
    return await this.#ended(this.#useCases.listPets.execute(query, options), options);
  }

  /**
   * Resolves with the pet that has this id, a `bigint` such as `7n` or a `number` that is a safe integer. Rejects with
   * `not_found` when no pet has this id, and with `invalid_request` for any other value.
   *
   * @example
   * ```ts
   * const { id } = await store.createPet({ name: 'Rex', categoryId: 7n });
   * console.log((await store.getPet(id)).name); // Rex
   * ```
   */
  async getPet(id: bigint | number, options?: CallOptions): Promise<Pet> {
    this.assertCallable(options);
    return await this.#ended(this.#useCases.getPet.execute(id, options), options);
  }

  /** Resolves when the storage can handle requests, and rejects with `storage_unavailable` otherwise. */
  async check(): Promise<void> {
    this.assertCallable();
    await this.#storage.check();
  }

  /** Completes the accepted writes, and then releases all resources. */
  close(): Promise<void> {
    this.#closing ??= this.#storage.close();
    return this.#closing;
  }

  /** Calls {@link BasicStore.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Most storages ignore the signal of a call. */
  #ended<T>(call: Promise<T>, options?: CallOptions, error?: (signal: AbortSignal) => unknown): Promise<T> {
    return this.#storage.endsCalls === true ? call : untilAborted(call, options?.signal, error);
  }

  protected get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Throws when the store is closed, when an option is invalid, and when the call was ended before it began. */
  protected assertCallable(options?: CallOptions): void {
    if (this.isClosed) throw new AnimalStoreError('storage_unavailable', 'the store is closed');
    checkCall(options);
  }
}
