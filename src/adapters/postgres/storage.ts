/** Opens a store in PostgreSQL, and connects its parts. */

import { BOOLEAN, checkArgument, checkOptions, FUNCTION, STRING } from '../../application/arguments.ts';
import { joinObservers, OBSERVER } from '../../application/observers.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import {
  StorageFault,
  storageFaultReason,
  storageUnavailable,
} from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError, isError } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { KnownFaults } from '../storage-kit/known-faults.ts';
import { PageCache } from '../storage-kit/page-cache.ts';
import { MIGRATION } from '../storage-kit/store-errors.ts';
import { apiKeyRepository } from './api-key-repository.ts';
import { clientConfig } from './config.ts';
import { ConnectionPool } from './connection-pool.ts';
import { groupedCreates, idempotentCreates } from './creates.ts';
import { detailed, type Faults, storageError } from './errors.ts';
import { GroupedWrites } from './grouped-writes.ts';
import { petChanges } from './pet-changes.ts';
import { petRepository } from './pet-repository.ts';
import { petTransfer } from './pet-transfer.ts';
import { LAST_ID, PRIVILEGE_TEST, prepareSchema, READ_HIDDEN, READ_ONLY } from './schema.ts';
import { locationOf } from './url/index.ts';

/** The options for opening a store in PostgreSQL. */
export interface PostgresOptions {
  /** Whether a database without a store is an error. When `false`, the store is created. Default: false. */
  readonly mustExist?: boolean;
  /** Whether the store is only read, and neither created, changed nor migrated. Default: false. */
  readonly readOnly?: boolean;
  /**
   * Decides whether a store of an older release is migrated, after which the older release cannot open it. `always` migrates the
   * store. `alone` migrates it if no other session uses it, and refuses it otherwise. `never` refuses it. Default: `always`.
   */
  readonly migration?: 'always' | 'alone' | 'never' | undefined;
  /** The observer that is notified of commits, of warnings and of the state of the storage. */
  readonly observer?: Observer | undefined;
  /** Returns the URL with the current password, for each new connection. Default: the URL of the store. */
  readonly currentUrl?: (() => string) | undefined;
}

/** Tests whether the database accepts writes: changes a row, unless all ids have been assigned. */
const WRITE_TEST = `UPDATE animal_store_schema SET probed_at = now()
  WHERE (SELECT ${LAST_ID} FROM pets) IS DISTINCT FROM ${INT64_MAX} RETURNING 1`;
const UNENFORCED =
  'channel_binding=require: the driver binds the channel if the server offers it, and does not require it';

/**
 * Opens the store in a PostgreSQL database. A statement that takes longer than 1 s fails, unless the URL has another
 * `query_timeout`, in milliseconds. Uses up to 16 connections, or `max` of the URL, and one more for each import and export.
 * Rejects with `storage_unavailable` when the database cannot be reached, or when this release cannot use its store.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { openPostgresStorage } from 'animal-store/postgres';
 *
 * const storage = await openPostgresStorage('postgres://user:password@localhost/pets');
 * const store = await createAnimalStore({ storage });
 * await store.close();
 * ```
 */
export async function openPostgresStorage(url: string, options: PostgresOptions = {}): Promise<Storage> {
  checkArgument('url', url, STRING);
  checkOptions<PostgresOptions>(options, {
    mustExist: BOOLEAN,
    readOnly: BOOLEAN,
    migration: MIGRATION,
    observer: OBSERVER,
    currentUrl: FUNCTION,
  });
  const location = locationOf(url);
  // Catches exceptions of the observer, because they must not stop creates.
  const observer = joinObservers([options.observer ?? {}]);
  const open = async () => {
    const { mustExist = false, readOnly = false, migration } = options;
    const config = { ...clientConfig(url, options.currentUrl), readOnly };
    const survey = await prepareSchema(config, mustExist || readOnly, readOnly ? 'never' : migration);
    return { config, ...survey };
  };
  const { config, warnings, lacking, isOneServer, isReadOnly } = await open().catch((error: unknown) => {
    const reason = storageFaultReason(storageError(error));
    throw storageUnavailable(`${location}: ${detailed(error)}`, error, reason);
  });
  for (const warning of [...warnings, ...(options.readOnly ? [] : lacking)]) observer.onWarning?.(warning);
  if (config.enableChannelBinding) observer.onWarning?.(UNENFORCED);
  const faults: Faults = new KnownFaults(['read', 'rows', 'write'], observer);
  if (isReadOnly) faults.reportFailure('write', new StorageFault('read_only', READ_ONLY));
  const cache = new PageCache();
  // Each new connection clears the cache, because the connection can lead to a server with other data.
  const pool = new ConnectionPool(config, faults, () => void cache.enter(undefined));
  const writes = new GroupedWrites(pool, faults, observer);
  const addCreate = groupedCreates(writes);
  const pets = petRepository(pool, addCreate, cache, isOneServer);
  const apiKeys = apiKeyRepository(pool);
  const records = idempotentCreates(addCreate, pool);
  const testWrite = async (): Promise<void> => {
    const text = storageFaultReason(faults.of('write')) === 'not_permitted' ? PRIVILEGE_TEST : WRITE_TEST;
    const result = await pool.run(() => ({ text })).catch(storageError);
    if (isError(result)) faults.reportFailure('write', result);
    else if (result.length > 0) faults.reportSuccess('write');
  };
  const testRows = async (): Promise<void> => {
    const [[hidden] = []] = await pool.read({ text: READ_HIDDEN });
    const messages = hidden as readonly string[];
    if (messages.length === 0) faults.reportSuccess('rows');
    else faults.reportFailure('rows', new StorageFault('not_permitted', messages.join('; ')));
  };
  /** Runs the statements that requests use. Throws faults and internal errors, but not, for example, `overloaded`. */
  const test = async (): Promise<void> => {
    const reads = [pets.read(), apiKeys.find(''), testRows()];
    for (const result of await Promise.allSettled([...reads, faults.of('write') && testWrite()])) {
      const error = result.status === 'rejected' ? asAnimalStoreError(result.reason) : undefined;
      if (error?.code === 'internal_error' || storageFaultReason(error)) throw error;
    }
  };
  let closed: Promise<void> | undefined;
  return {
    pets,
    apiKeys,
    idempotentCreates: records,
    idempotencyRecords: records,
    transfer: petTransfer(pool, observer),
    ...petChanges(pool, writes),
    statistics: () => ({
      pages: { ...cache.statistics },
      keys: { ...apiKeys.statistics },
      waitingWrites: writes.waiting,
      connections: pool.statistics,
    }),
    async check() {
      pool.assertOpen();
      await faults.check(test);
    },
    close: () => (closed ??= writes.close().then(() => pool.close())),
  };
}
