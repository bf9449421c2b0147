/// <reference lib="esnext.disposable" preserve="true" />

import { AnimalStoreError } from '../domain/errors.ts';
import type { NewPetInput, Pet } from '../domain/pet.ts';
import { ApiKeys } from './api-keys.ts';
import { checkArgument, checkOptions, type OptionRules, STRING } from './arguments.ts';
import { CreatePet } from './create-pet.ts';
import { CreatePetOnce, THIS_PROGRAM } from './create-pet-once.ts';
import { GetPet } from './get-pet.ts';
import { type ImportedPet, type ImportOptions, ImportPets } from './import-pets.ts';
import { checkStatus, ListPets, type PetPageQuery } from './list-pets.ts';
import type { ApiKeyHolder } from './ports/api-key-verifier.ts';
import type { CreateResult } from './ports/idempotent-creates.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import type { BackupOptions } from './ports/storage.ts';
import { startRecordRemoval } from './record-removal.ts';
import {
  BACKUP_OPTIONS,
  CALL_OPTIONS,
  CREATE_OPTIONS,
  type CreateOptions,
  EXPORT_QUERY,
  type ExportQuery,
  type PetWalk,
  type StoreStorage,
  supported,
} from './store-options.ts';
import { VerifyApiKey } from './verify-api-key.ts';
import { walkPets } from './walk-pets.ts';

/**
 * The application, with a method for each use case of a store. The HTTP server, the command line and programs that
 * embed the store use this class. Every method can reject with an {@link AnimalStoreError}. After `close`, every other
 * method rejects with `storage_unavailable`.
 */
export class AnimalStore implements AsyncDisposable {
  readonly #storage: StoreStorage;
  readonly #apiKeys: ApiKeys;
  readonly #verifyApiKey: VerifyApiKey;
  #stopRemoval: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  /** @param storage the storage of the store; {@link AnimalStore.close} closes this storage */
  constructor(storage: StoreStorage) {
    this.#storage = storage;
    this.#apiKeys = new ApiKeys(storage.apiKeys);
    this.#verifyApiKey = new VerifyApiKey(storage.apiKeys);
  }

  /**
   * The use cases for the API keys of HTTP clients: creating, listing, rotating and revoking keys. Throws
   * `storage_unavailable` when the store is closed.
   *
   * @example
   * ```ts
   * const { key, about } = await store.apiKeys.create('my-client');
   * await store.apiKeys.revoke(about.id);
   * console.log(await store.verifyApiKey(key)); // undefined
   * ```
   */
  get apiKeys(): ApiKeys {
    this.#assertOpen();
    return this.#apiKeys;
  }

  /**
   * Creates a pet, and resolves with the pet when it is durable. The default status is `available`. When the input
   * breaks a rule, rejects with `invalid_request`, and stores nothing. When the idempotency key was used for a
   * different pet, rejects with `idempotency_conflict`.
   *
   * @example
   * ```ts
   * const pet = await store.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });
   * console.log(pet.id); // 1n
   * ```
   */
  async createPet(input: NewPetInput, options: CreateOptions = {}): Promise<Pet> {
    this.#assertCallable(options, CREATE_OPTIONS);
    const { idempotencyKey: key, ...callOptions } = options;
    if (key === undefined) return await new CreatePet(this.#storage.pets).execute(input, callOptions);
    return (await this.createPetOnce(input, THIS_PROGRAM, key, callOptions)).pet;
  }

  /**
   * Creates a pet exactly once for each caller and idempotency key, as {@link CreatePetOnce.execute} describes. Rejects
   * with `invalid_request` when the storage does not support idempotency keys.
   */
  async createPetOnce(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    this.#assertCallable(options, CALL_OPTIONS);
    const creates = supported(this.#storage.idempotentCreates, 'Idempotency-Key');
    this.startMaintenance();
    return await new CreatePetOnce(creates).execute(input, caller, key, options);
  }

  /**
   * Starts to remove old idempotency records once a minute, until `close` is called. A server calls this method when it
   * starts. In other programs, the first create with an idempotency key has the same effect.
   */
  startMaintenance(): void {
    const { idempotentCreates } = this.#storage;
    if (this.#closed !== undefined || idempotentCreates === undefined) return;
    this.#stopRemoval ??= startRecordRemoval(new CreatePetOnce(idempotentCreates));
  }

  /**
   * Yields the matching pets in ascending order of id. Every matching pet that existed when the iteration began is
   * yielded exactly once, even while pets are added. The pets are read page by page, and a page is read only when the
   * caller needs its pets. When a value of the query is out of range, the first call of `next` rejects with
   * `invalid_request`. The timeout in the options is the timeout of each page.
   *
   * @example
   * ```ts
   * await store.createPet({ name: 'Rex', categoryId: 7n });
   * for await (const { name } of store.listPets({ status: 'available' })) console.log(name); // Rex
   * ```
   */
  listPets(query?: PetWalk, options?: CallOptions): AsyncGenerator<Pet, void, undefined> {
    const { pets } = this.#storage;
    return walkPets((page, previous) => {
      if (previous === undefined || pets.next === undefined) return this.listPage(page, options);
      this.#assertCallable(options, CALL_OPTIONS);
      return pets.next(previous, options);
    }, query);
  }

  /**
   * Resolves with one page of the matching pets, as `GET /pets` does. The limit is 1 to 100 pets, and the default limit
   * is 20. For the next page, set `after` to the id of the last pet of this page.
   *
   * @example
   * ```ts
   * const { pets, more } = await store.listPage({ limit: 100 });
   * const nextPage = more ? await store.listPage({ limit: 100, after: pets.at(-1)?.id }) : undefined;
   * ```
   */
  async listPage(query?: PetPageQuery, options?: CallOptions): Promise<PetPage> {
    this.#assertCallable(options, CALL_OPTIONS);
    return await new ListPets(this.#storage.pets).execute(query, options);
  }

  /**
   * Resolves with the pet that has this id. The id is a `bigint` such as `7n`, or a `number` that is a safe integer.
   * Rejects with `not_found` when no pet has this id.
   *
   * @example
   * ```ts
   * const { id } = await store.createPet({ name: 'Rex', categoryId: 7n });
   * console.log((await store.getPet(id)).name); // Rex
   * ```
   */
  async getPet(id: bigint | number, options?: CallOptions): Promise<Pet> {
    this.#assertCallable(options, CALL_OPTIONS);
    return await new GetPet(this.#storage.pets).execute(id, options);
  }

  /**
   * Resolves with the id and the name of an active key (the key holder). Resolves with `undefined` when the key is
   * unknown, expired or revoked.
   */
  async verifyApiKey(key: string): Promise<ApiKeyHolder | undefined> {
    this.#assertOpen();
    return await this.#verifyApiKey.verify(key);
  }

  /**
   * Imports pets in bulk, and resolves with the number of stored pets when they are durable. When anything fails, no
   * pet is stored. A pet that breaks a rule is passed to `onRefused`, or else makes the import reject.
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
    this.#assertOpen();
    return await new ImportPets(supported(this.#storage.transfer, 'import')).execute(batches, options);
  }

  /**
   * Yields all matching pets in batches, in ascending order of id. A pet that is added after the first batch was
   * requested is not yielded, except by the store of a server, which is read page by page.
   *
   * @example
   * ```ts
   * for await (const pets of store.exportPets()) console.log(pets.length);
   * ```
   */
  async *exportPets(query: ExportQuery = {}, options?: CallOptions): AsyncGenerator<readonly Pet[], void> {
    this.#assertCallable(options, CALL_OPTIONS);
    checkOptions(query, EXPORT_QUERY);
    checkStatus(query.status);
    yield* supported(this.#storage.transfer, 'export').exportPets(query, options);
  }

  /**
   * Copies the whole store, including the API keys, into a file. Resolves when the copy is durable. Rejects with
   * `invalid_request` when the storage does not support backups, or when the file exists and `overwrite` is not set.
   *
   * @example
   * ```ts
   * await store.backup('./pets-backup.db', { overwrite: true });
   * ```
   */
  async backup(file: string, options: BackupOptions = {}): Promise<void> {
    this.#assertOpen();
    checkArgument('file', file, STRING);
    checkOptions(options, BACKUP_OPTIONS);
    await supported(this.#storage.backup, 'backup').call(this.#storage, file, options);
  }

  /** Resolves when the storage can handle requests, and rejects with `storage_unavailable` otherwise. */
  async check(): Promise<void> {
    this.#assertOpen();
    await this.#storage.check();
  }

  /**
   * Completes the accepted writes, ends a running backup or import, and then releases all resources. A second call has
   * no effect.
   */
  close(): Promise<void> {
    this.#stopRemoval?.();
    this.#closed ??= this.#storage.close();
    return this.#closed;
  }

  /** Calls {@link AnimalStore.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #assertCallable<T extends CallOptions>(options: T | undefined, rules: OptionRules<T>): void {
    this.#assertOpen();
    if (options === undefined) return;
    checkOptions(options, rules);
    options.signal?.throwIfAborted();
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new AnimalStoreError('storage_unavailable', 'the store is closed');
  }
}
