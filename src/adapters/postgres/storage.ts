import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  OBJECT,
  type OptionRules,
  STRING,
} from '../../application/arguments.ts';
import { combineObservers } from '../../application/observers.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { PostgresApiKeyRepository } from './api-key-repository.ts';
import { clientConfig, locationOf } from './config.ts';
import { Connection } from './connection.ts';
import { detailed, storageError } from './errors.ts';
import { Health } from './health.ts';
import { PostgresIdempotentCreates } from './idempotent-creates.ts';
import { PostgresPetRepository } from './pet-repository.ts';
import { PostgresPetTransfer } from './pet-transfer.ts';
import { ConnectionPool } from './pool.ts';
import { Reader } from './reader.ts';
import { Readiness } from './readiness.ts';
import { type Prepared, prepareSchema } from './schema.ts';
import { Writer } from './writer.ts';

/** The options for opening a store in PostgreSQL. */
export interface PostgresOptions {
  /** Whether a database without a store is an error. When `false`, the store is created. Default: false. */
  readonly mustExist?: boolean;
  /** The observer that is notified of commits, of warnings and of the state of the storage. */
  readonly observer?: Observer | undefined;
}

const OPTIONS: OptionRules<PostgresOptions> = { mustExist: BOOLEAN, observer: OBJECT };

/**
 * Opens the store in a PostgreSQL database. Creates the tables unless `mustExist` is set. The URL has the format of the
 * package `pg`. A statement that takes longer than 1 s fails, unless the URL has another `query_timeout`, in
 * milliseconds. Uses one connection for reads, one for creates, and up to five more for changes of API keys, imports and
 * exports.
 *
 * Rejects with `storage_unavailable` when the database cannot be reached, belongs to another application, or was
 * written by a newer release.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { openPostgresStorage } from 'animal-store/postgres';
 *
 * const storage = await openPostgresStorage('postgres://user:password@localhost/pets');
 * const store = await createAnimalStore({ storage });
 * await store.createPet({ name: 'Rex', categoryId: 7n });
 * await store.close();
 * ```
 */
export async function openPostgresStorage(url: string, options: PostgresOptions = {}): Promise<Storage> {
  checkArgument('url', url, STRING);
  checkOptions(options, OPTIONS);
  const { mustExist = false, observer = {} } = options;
  const config = clientConfig(url);
  // `combineObservers` discards exceptions of the observer, because such an exception must not stop the writer.
  const safeObserver = combineObservers([observer]);
  const { warnings, isOneServer } = await prepare(url, mustExist);
  for (const warning of warnings) safeObserver.onWarning?.(warning);
  const health = new Health(safeObserver);
  const readConnection = new Connection(config, 'read', health);
  const writeConnection = new Connection(config, 'write', health);
  const reader = new Reader(readConnection, isOneServer);
  const writer = new Writer(writeConnection, safeObserver);
  const pool = new ConnectionPool(config);
  const readiness = new Readiness(health, readConnection, writeConnection);
  const close = async (): Promise<void> => {
    reader.close();
    await Promise.all([writer.close(), pool.close()]);
    await Promise.all([readConnection.close(), writeConnection.close()]);
  };
  let closed: Promise<void> | undefined;
  const apiKeys = new PostgresApiKeyRepository(reader, pool);
  return {
    pets: new PostgresPetRepository(reader, writer),
    apiKeys,
    idempotentCreates: new PostgresIdempotentCreates(reader, writer, pool),
    transfer: new PostgresPetTransfer(pool, safeObserver),
    statistics: () => ({
      pages: reader.pageStatistics,
      keys: apiKeys.cacheStatistics,
      waitingWrites: writer.waiting,
      connections: { ...pool.statistics, waiting: reader.waiting + pool.statistics.waiting },
    }),
    async check() {
      pool.assertOpen();
      await readiness.check();
    },
    close: () => (closed ??= close()),
  };
}

async function prepare(url: string, mustExist: boolean): Promise<Prepared> {
  const location = locationOf(url);
  try {
    return await prepareSchema(clientConfig(url), mustExist);
  } catch (error) {
    const message = `${location}: ${detailed(error)}`;
    const reason = storageFaultReason(storageError(error));
    throw reason === undefined
      ? new AnimalStoreError('storage_unavailable', message, { cause: error })
      : new StorageFault(reason, message, { cause: error });
  }
}
