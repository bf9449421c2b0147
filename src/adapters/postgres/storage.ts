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
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { PostgresApiKeyRepository } from './api-key-repository.ts';
import { clientConfig, locationOf } from './config.ts';
import { Connections } from './connections.ts';
import { detailed, storageError } from './errors.ts';
import { Health } from './health.ts';
import { PostgresIdempotentCreates } from './idempotent-creates.ts';
import { PostgresPetRepository } from './pet-repository.ts';
import { PostgresPetTransfer } from './pet-transfer.ts';
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

/** How long a claim of an idempotency key may wait for another server, before it is sent alone, in milliseconds. */
const CLAIM_LOCK_TIMEOUT = 20;

/** The maximum number of connections for what happens seldom: changes of API keys, the removal of records, transfers. */
const OTHER_CONNECTIONS = 5;

const OPTIONS: OptionRules<PostgresOptions> = { mustExist: BOOLEAN, observer: OBJECT };

/**
 * Opens the store in a PostgreSQL database. Creates the tables unless `mustExist` is set. The URL has the format of the
 * package `pg`. A statement that takes longer than 1 s fails, unless the URL has another `query_timeout`, in
 * milliseconds. Uses up to 16 connections for reads, unless the URL has another `max`, two for creates, and up to five more
 * for changes of API keys, imports and exports. Unused connections are closed after 10 s, except for one for reads and one
 * for creates.
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
  const { maxReads, ...config } = clientConfig(url);
  // `combineObservers` discards exceptions of the observer, because such an exception must not stop the writer.
  const safeObserver = combineObservers([observer]);
  const { warnings, isOneServer } = await prepare(url, mustExist);
  for (const warning of warnings) safeObserver.onWarning?.(warning);
  const health = new Health(safeObserver);
  const reads = new Connections(config, { max: maxReads, min: 1, isOneServer });
  const creates = new Connections(config, { max: 1, min: 1 });
  const claims = new Connections(config, { max: 1, lockTimeout: CLAIM_LOCK_TIMEOUT });
  const others = new Connections(config, { max: OTHER_CONNECTIONS });
  const reader = new Reader(reads, health, isOneServer);
  const writer = new Writer({ creates, claims, others }, health, safeObserver);
  const readiness = new Readiness(health, reader, others);
  const close = async (): Promise<void> => {
    reader.close();
    await writer.close();
    await Promise.all([reads, creates, claims, others].map((connections) => connections.close()));
  };
  let closed: Promise<void> | undefined;
  const apiKeys = new PostgresApiKeyRepository(reader, others);
  return {
    pets: new PostgresPetRepository(reader, writer),
    apiKeys,
    idempotentCreates: new PostgresIdempotentCreates(reader, writer, others),
    transfer: new PostgresPetTransfer(others, safeObserver),
    statistics: () => ({
      pages: reader.pageStatistics,
      keys: apiKeys.cacheStatistics,
      waitingWrites: writer.waiting,
      connections: statisticsOf([reads, creates, claims, others], reader.waiting),
    }),
    async check() {
      others.assertOpen();
      await readiness.check();
    },
    close: () => (closed ??= close()),
  };
}

function statisticsOf(all: readonly Connections[], waitingReads: number): ConnectionStatistics {
  const sum = { busy: 0, idle: 0, waiting: waitingReads };
  for (const { statistics } of all) {
    sum.busy += statistics.busy;
    sum.idle += statistics.idle;
    sum.waiting += statistics.waiting;
  }
  return sum;
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
