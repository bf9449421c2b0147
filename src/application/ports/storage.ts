import { AnimalStoreError } from '../../domain/errors.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';
import type { IdempotentChanges } from './idempotent-changes.ts';
import type { IdempotencyRecords, IdempotentCreates } from './idempotent-creates.ts';
import type { BackupOptions } from './maintenance.ts';
import type { PetChanges } from './pet-changes.ts';
import type { PetRepository } from './pet-repository.ts';
import type { PetTransfer } from './pet-transfer.ts';
import type { StorageStatistics } from './statistics.ts';

/**
 * An open storage. The parts that an engine lacks are absent. A call that needs an absent part is refused with an error that names
 * the missing feature.
 */
export interface StoreStorage {
  readonly pets: PetRepository;
  readonly apiKeys?: ApiKeyRepository | undefined;
  readonly idempotentCreates?: IdempotentCreates | undefined;
  readonly idempotencyRecords?: IdempotencyRecords | undefined;
  readonly transfer?: PetTransfer | undefined;
  readonly changes?: PetChanges | undefined;
  readonly idempotentChanges?: IdempotentChanges | undefined;

  /**
   * Copies the whole store, including the API keys, as it is at one moment; other calls can write meanwhile. `file` is unchanged
   * until the copy is durable. Rejects with `invalid_request` when `file` is refused, for example because it exists
   * and `overwrite` is not set. Rejects with `storage_unavailable` when the copy fails.
   */
  readonly backup?: ((file: string, options?: BackupOptions) => Promise<void>) | undefined;

  /** Whether the storage is on another server. It must then end a call when the signal of the call is aborted. */
  readonly isRemote?: boolean | undefined;

  readonly statistics?: (() => StorageStatistics) | undefined;

  /**
   * Resolves when the engine can handle requests. Rejects with `storage_unavailable` when reading fails. After a failed write,
   * rejects until another write or a test of the storage shows that the failed write would now succeed. Settles within about a
   * second. Calls in quick succession may share one test.
   */
  check(): Promise<void>;

  /**
   * Completes the accepted writes, and releases all resources. A running backup, an import that still reads batches, and later
   * calls reject with `storage_unavailable`. Closing a closed storage has no effect.
   */
  close(): Promise<void>;
}

/** A storage with all ports that a server needs. */
export interface Storage extends StoreStorage {
  readonly apiKeys: ApiKeyRepository;
  readonly idempotentCreates: IdempotentCreates;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly transfer: PetTransfer;
  readonly changes: PetChanges;
  readonly idempotentChanges: IdempotentChanges;
}

export function closedError(): AnimalStoreError {
  return new AnimalStoreError('storage_unavailable', 'the store is closed');
}
