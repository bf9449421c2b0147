import { invalidRequest } from '../domain/errors.ts';
import type { ImportedPet, Pet } from '../domain/pet.ts';
import { type PetFilterInput, readFilter } from '../domain/pet-filter.ts';
import type { ApiKeys } from './api-keys.ts';
import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  FUNCTION,
  type OptionRules,
  type Rule,
  STRING,
  supported,
} from './arguments.ts';
import { BasicStore } from './basic-store.ts';
import type { ImportOptions } from './import-pets.ts';
import { failureReporter, type ReportFailure } from './observers.ts';
import type { ApiKeyHolder, VerifyOptions } from './ports/api-key-verifier.ts';
import type { BackupOptions } from './ports/maintenance.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import type { StoreStorage } from './ports/storage.ts';
import { startRecordRemoval } from './record-removal.ts';
import { FILTER, RESTORE_OPTIONS, SIGNAL } from './store-options.ts';
import { iterateUntilAborted } from './until-aborted.ts';
import { createUseCases, type UseCases } from './use-cases.ts';
import { walkPages } from './walk-pages.ts';

const BACKUP_OPTIONS: OptionRules<BackupOptions> = { ...RESTORE_OPTIONS, onVerified: FUNCTION };
const IMPORT_OPTIONS: OptionRules<ImportOptions> = {
  onProgress: FUNCTION,
  signal: SIGNAL,
  onRefused: FUNCTION,
  dryRun: BOOLEAN,
};
const VERIFY_OPTIONS: OptionRules<VerifyOptions> = { duringOutage: BOOLEAN };
const BATCHES: Rule = {
  expected: 'an async iterable of arrays of pets',
  accepts: (value) =>
    FUNCTION.accepts((value as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator]),
};

/** A store with every call. A method rejects with `invalid_request` when the storage lacks a required part. */
export class AnimalStore extends BasicStore {
  readonly #report: ReportFailure;
  #stopRemoval: (() => void) | undefined;

  /** @param storage is closed with the store */
  constructor(
    storage: StoreStorage,
    useCases: UseCases = createUseCases(storage),
    report: ReportFailure = failureReporter([]),
  ) {
    super(storage, useCases);
    this.#report = report;
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
    return supported(this.useCases.apiKeys, 'keys');
  }

  /** Whether the storage supports API keys. */
  get hasApiKeys(): boolean {
    return this.useCases.apiKeys !== undefined;
  }

  /** Whether the storage can change pets. */
  get canChangePets(): boolean {
    return this.useCases.changes !== undefined;
  }

  /**
   * Starts a timer that removes ended idempotency records once a minute. The first write with an idempotency key also starts it.
   */
  override startMaintenance(): void {
    const { idempotencyRecords: records } = this.storage;
    if (this.closing.signal.aborted || records === undefined) return;
    this.#stopRemoval ??= startRecordRemoval(records, this.#report);
  }

  /** Resolves with the key holder of an active key, or with `undefined` for any other string. */
  async verifyApiKey(key: string, options?: VerifyOptions): Promise<ApiKeyHolder | undefined> {
    this.assertCallable();
    if (options !== undefined) checkOptions(options, VERIFY_OPTIONS);
    return await supported(this.useCases.verifyApiKey, 'keys').verify(key, options);
  }

  /**
   * Imports pets in one transaction, and resolves with their number when they are durable. Rejects with `invalid_request` when the
   * pets have ids and the store has ever had a pet.
   *
   * @example
   * ```ts
   * const batches = (async function* () {
   *   yield [{ id: 5n, name: 'Rex', categoryId: 7n }];
   * })();
   * console.log(await store.importPets(batches)); // 1
   * ```
   */
  async importPets(
    batches: AsyncIterable<readonly ImportedPet[]>,
    options: ImportOptions = {},
  ): Promise<number> {
    this.assertCallable();
    checkArgument('batches', batches, BATCHES);
    const checked = checkOptions(options, IMPORT_OPTIONS);
    const signal = this.untilClosed(checked.signal);
    return await supported(this.useCases.importPets, 'import').execute(batches, { ...checked, signal });
  }

  /** Yields all matching pets in batches, as `PetTransfer.exportPets` does, or page by page if the storage lacks this port. */
  async *exportPets(query: PetFilterInput = {}, options?: CallOptions): AsyncGenerator<readonly Pet[], void> {
    this.assertCallable(options);
    checkOptions(query, FILTER);
    const { filter, faults } = readFilter(query);
    if (faults.length > 0) throw invalidRequest(faults.join('; '));
    const { transfer } = this.storage;
    if (transfer !== undefined)
      yield* iterateUntilAborted(transfer.exportPets(filter, options), options?.signal);
    else yield* walkPages((page) => this.listPage(page, options), filter);
  }

  /** Copies the whole store, including the API keys, into a file, as {@link StoreStorage.backup} describes. */
  async backup(file: string, options: BackupOptions = {}): Promise<void> {
    this.assertCallable();
    checkArgument('file', file, STRING);
    const checked = checkOptions(options, BACKUP_OPTIONS);
    await supported(this.storage.backup, 'backup').call(this.storage, file, checked);
  }

  /**
   * Makes every reader of the changes begin again. If another program, such as a tool of the database, restores the store, call
   * this afterwards.
   */
  async beginEpoch(): Promise<void> {
    this.assertCallable();
    const { changes } = this.storage;
    await supported(changes?.beginEpoch, 'a new epoch').call(changes);
  }

  /** Closes the store and its storage, as {@link StoreStorage.close} describes. */
  override close(): Promise<void> {
    this.#stopRemoval?.();
    return super.close();
  }
}
