/// <reference lib="esnext.disposable" preserve="true" />

import type { AnimalStoreError } from '../domain/errors.ts';
import type { ImportedPet, NewPetInput, Pet } from '../domain/pet.ts';
import { ApiKeys } from './api-keys.ts';
import { backUp } from './back-up.ts';
import { CreatePet } from './create-pet.ts';
import { CreatePetOnce, THIS_PROGRAM } from './create-pet-once.ts';
import { type ExportQuery, exportPets } from './export-pets.ts';
import { followPets } from './follow-pets.ts';
import { GetPet } from './get-pet.ts';
import { type ImportOptions, ImportPets } from './import-pets.ts';
import { ListPets, type PetPageQuery } from './list-pets.ts';
import type { ApiKeyHolder } from './ports/api-key-verifier.ts';
import type { CreateResult } from './ports/idempotent-creates.ts';
import type { BackupOptions } from './ports/maintenance.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import { startRecordRemoval } from './record-removal.ts';
import {
  CALL_OPTIONS,
  CREATE_OPTIONS,
  type CreateOptions,
  type FollowOptions,
  OpenState,
  type PetWalk,
  type RetryOptions,
  type StoreStorage,
  supported,
} from './store-options.ts';
import { VerifyApiKey } from './verify-api-key.ts';
import { walkPets } from './walk-pets.ts';

/**
 * The use cases of a store, for the HTTP server, the command line and programs that embed the store. Every method can
 * reject with an {@link AnimalStoreError}. After `close`, every other method rejects with `storage_unavailable`.
 */
export class AnimalStore implements AsyncDisposable {
  readonly #storage: StoreStorage;
  readonly #state = new OpenState();
  readonly #createPet: CreatePet;
  readonly #createPetOnce: CreatePetOnce | undefined;
  readonly #listPets: ListPets;
  readonly #getPet: GetPet;
  readonly #apiKeys: ApiKeys;
  readonly #verifyApiKey: VerifyApiKey;
  #stopRemoval: (() => void) | undefined;

  /** @param storage the storage of the store; {@link AnimalStore.close} closes this storage */
  constructor(storage: StoreStorage, { idempotencyDays }: RetryOptions = {}) {
    const { pets, idempotentCreates: creates } = storage;
    this.#storage = storage;
    this.#createPet = new CreatePet(pets);
    this.#createPetOnce = creates && new CreatePetOnce(creates, Date.now, idempotencyDays);
    this.#listPets = new ListPets(pets);
    this.#getPet = new GetPet(pets);
    this.#apiKeys = new ApiKeys(storage.apiKeys);
    this.#verifyApiKey = new VerifyApiKey(storage.apiKeys);
  }

  /**
   * Creates, lists, rotates and revokes the API keys of HTTP clients.
   *
   * @example
   * ```ts
   * const { key, about } = await store.apiKeys.create('my-client');
   * await store.apiKeys.revoke(about.id);
   * console.log(await store.verifyApiKey(key)); // undefined
   * ```
   */
  get apiKeys(): ApiKeys {
    this.#state.assertOpen();
    return this.#apiKeys;
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
    this.#state.assertCallable(options, CREATE_OPTIONS);
    const { idempotencyKey: key, ...callOptions } = options;
    if (key === undefined) return await this.#createPet.execute(input, callOptions);
    return (await this.createPetOnce(input, THIS_PROGRAM, key, callOptions)).pet;
  }

  /** Creates a pet exactly once for each caller and idempotency key, as {@link CreatePetOnce.execute} describes. */
  async createPetOnce(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    this.#state.assertCallable(options, CALL_OPTIONS);
    const createPetOnce = supported(this.#createPetOnce, 'Idempotency-Key');
    this.startMaintenance();
    return await createPetOnce.execute(input, caller, key, options);
  }

  /** Starts to remove old idempotency records once a minute, as the first create with an idempotency key does. */
  startMaintenance(): void {
    const { idempotencyRecords } = this.#storage;
    if (this.#state.isClosed || idempotencyRecords === undefined) return;
    this.#stopRemoval ??= startRecordRemoval(idempotencyRecords);
  }

  /**
   * Yields the matching pets in ascending order of id. Every matching pet that existed when the iteration began is
   * yielded exactly once, even while pets are added. A page is read when the caller needs its pets, and the timeout is for
   * each page. When a value of the query is out of range, the first call of `next` rejects with `invalid_request`.
   *
   * @example
   * ```ts
   * await store.createPet({ name: 'Rex', categoryId: 7n });
   * for await (const { name } of store.listPets({ status: 'available' })) console.log(name); // Rex
   * ```
   */
  listPets(query?: PetWalk, options?: CallOptions): AsyncGenerator<Pet, void, undefined> {
    return walkPets(async (page, previous) => {
      this.#state.assertCallable(options, CALL_OPTIONS);
      return await this.#listPets.execute(page, options, previous);
    }, query);
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
    const isClosed = () => this.#state.isClosed;
    return followPets({ readPage: (query, call) => this.listPage(query, call), isClosed }, options);
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
    this.#state.assertCallable(options, CALL_OPTIONS);
    return await this.#listPets.execute(query, options);
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
    this.#state.assertCallable(options, CALL_OPTIONS);
    return await this.#getPet.execute(id, options);
  }

  /** Resolves with the key holder of an active key, or with `undefined` for any other string. */
  async verifyApiKey(key: string): Promise<ApiKeyHolder | undefined> {
    this.#state.assertOpen();
    return await this.#verifyApiKey.verify(key);
  }

  /**
   * Imports pets in bulk, and resolves with the number of stored pets when they are durable. When anything fails, no pet
   * is stored. Rejects with `invalid_request` when the pets have ids and the store has ever had a pet.
   *
   * @example
   * ```ts
   * const batches = (async function* () {
   *   yield [{ id: 5n, name: 'Rex', categoryId: 7n }];
   * })();
   * console.log(await store.importPets(batches)); // 1
   * ```
   */
  async importPets(batches: AsyncIterable<readonly ImportedPet[]>, options?: ImportOptions): Promise<number> {
    this.#state.assertOpen();
    return await new ImportPets(supported(this.#storage.transfer, 'import')).execute(batches, options);
  }

  /**
   * Yields all matching pets in batches, in ascending order of id. A pet that is added after the first batch was requested
   * is not yielded, except by the store of a server, which is read page by page.
   *
   * @example
   * ```ts
   * for await (const pets of store.exportPets()) console.log(pets.length);
   * ```
   */
  async *exportPets(query: ExportQuery = {}, options?: CallOptions): AsyncGenerator<readonly Pet[], void> {
    this.#state.assertCallable(options, CALL_OPTIONS);
    yield* exportPets(supported(this.#storage.transfer, 'export'), query, options);
  }

  /**
   * Copies the whole store, including the API keys, into a file, as {@link StoreStorage.backup} describes.
   *
   * @example
   * ```ts
   * await store.backup('./pets-backup.db', { overwrite: true });
   * ```
   */
  async backup(file: string, options?: BackupOptions): Promise<void> {
    this.#state.assertOpen();
    await backUp(this.#storage, file, options);
  }

  /** Resolves when the storage can handle requests, and rejects with `storage_unavailable` otherwise. */
  async check(): Promise<void> {
    this.#state.assertOpen();
    await this.#storage.check();
  }

  /** Completes the accepted writes, ends a running backup or import, and then releases all resources. */
  close(): Promise<void> {
    this.#stopRemoval?.();
    return this.#state.close(() => this.#storage.close());
  }

  /** Calls {@link AnimalStore.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
