import { checkStatus, type ImportedPet, type NewPetInput, type Pet } from '../domain/pet.ts';
import type { ApiKeys } from './api-keys.ts';
import { checkOptions } from './arguments.ts';
import { BasicStore } from './basic-store.ts';
import type { ImportOptions } from './import-pets.ts';
import type { PetPageQuery } from './list-pets.ts';
import type { ApiKeyHolder } from './ports/api-key-verifier.ts';
import type { CreateResult } from './ports/idempotent-creates.ts';
import type { BackupOptions } from './ports/maintenance.ts';
import type { CallOptions, PetQuery } from './ports/pet-repository.ts';
import type { StoreStorage } from './ports/storage.ts';
import { startRecordRemoval } from './record-removal.ts';
import { QUERY, supported } from './store-options.ts';
import { iterateUntilAborted } from './until-aborted.ts';
import { createUseCases, type UseCases } from './use-cases.ts';
import { walkPages } from './walk-pages.ts';

/**
 * The use cases of a store, for the HTTP server, the command line and programs that embed the store. A method whose part of
 * the storage is missing rejects with `invalid_request`.
 */
export class AnimalStore extends BasicStore {
  readonly #storage: StoreStorage;
  readonly #useCases: UseCases;
  #stopRemoval: (() => void) | undefined;

  /** @param storage the storage of the store; {@link AnimalStore.close} closes this storage */
  constructor(storage: StoreStorage, useCases: UseCases = createUseCases(storage)) {
    super(storage, useCases);
    this.#storage = storage;
    this.#useCases = useCases;
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
    this.assertCallable();
    return supported(this.#useCases.apiKeys, 'keys');
  }

  override async createPetOnce(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    this.startMaintenance();
    return await super.createPetOnce(input, caller, key, options);
  }

  /** Starts to remove ended idempotency records once a minute, as the first create with an idempotency key does. */
  startMaintenance(): void {
    const { idempotencyRecords: records } = this.#storage;
    if (this.isClosed || records === undefined) return;
    this.#stopRemoval ??= startRecordRemoval(records);
  }

  /** Resolves with the key holder of an active key, or with `undefined` for any other string. */
  async verifyApiKey(key: string): Promise<ApiKeyHolder | undefined> {
    this.assertCallable();
    return await supported(this.#useCases.verifyApiKey, 'keys').verify(key);
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
    this.assertCallable();
    return await supported(this.#useCases.importPets, 'import').execute(batches, options);
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
  async *exportPets(
    query: Pick<PetQuery, 'status'> = {},
    options?: CallOptions,
  ): AsyncGenerator<readonly Pet[], void> {
    this.assertCallable(options);
    checkOptions<PetPageQuery>(query, QUERY);
    const { status } = query;
    checkStatus(status);
    const { transfer } = this.#storage;
    if (transfer !== undefined)
      yield* iterateUntilAborted(transfer.exportPets({ status }, options), options?.signal);
    else yield* walkPages((page) => this.listPage(page, options), { status });
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
    this.assertCallable();
    await supported(this.#storage.backup, 'backup').call(this.#storage, file, options);
  }

  /** Completes the accepted writes, ends a running backup or import, and then releases all resources. */
  override close(): Promise<void> {
    this.#stopRemoval?.();
    return super.close();
  }
}
