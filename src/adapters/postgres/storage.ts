import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  INTERNAL,
  OBJECT,
  type OptionRules,
  STRING,
} from '../../application/arguments.ts';
import { idsExhausted } from '../../application/ids-left.ts';
import { combineObservers } from '../../application/observers.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { storageFaultReason, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { KnownFaults } from '../storage-kit/known-faults.ts';
import { PageCache } from '../storage-kit/page-cache.ts';
import { changedTables } from '../storage-kit/store-errors.ts';
import { apiKeyRepository } from './api-key-repository.ts';
import { clientConfig } from './config.ts';
import { ConnectionPool } from './connection-pool.ts';
import { groupedCreates } from './creates.ts';
import { detailed, type Faults, storageError } from './errors.ts';
import { idempotentCreates } from './idempotent-creates.ts';
import { petRepository } from './pet-repository.ts';
import { petTransfer } from './pet-transfer.ts';
import { readsOver } from './reads.ts';
import { LAST_ID, prepareSchema, TABLE_FAULTS, WRITE_TEST } from './schema.ts';
import { locationOf } from './url/index.ts';

/** The options for opening a store in PostgreSQL. */
export interface PostgresOptions {
  /** Whether a database without a store is an error. When `false`, the store is created. Default: false. */
  readonly mustExist?: boolean;
  /** The observer that is notified of commits, of warnings and of the state of the storage. */
  readonly observer?: Observer | undefined;
  /** @internal The number of threads that open the store. Each uses its part of the connections, at least one for each purpose. */
  readonly threads?: number;
}

/** The maximum number of connections for what happens seldom: changes of API keys, the removal of records, transfers. */
const OTHER_CONNECTIONS = 5;

const OPTIONS: OptionRules<PostgresOptions> = { mustExist: BOOLEAN, observer: OBJECT, threads: INTERNAL };

/**
 * Opens the store in a PostgreSQL database. Creates the tables unless `mustExist` is set. The URL has the format of the
 * package `pg`. A statement that takes longer than 1 s fails, unless the URL has another `query_timeout`, in
 * milliseconds. Uses up to 16 connections for reads, unless the URL has another `max`, one for creates, and up to five more
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
  const { mustExist = false, observer = {}, threads = 1 } = options;
  const partOf = (connections: number): number => Math.max(1, Math.floor(connections / threads));
  const location = locationOf(url);
  const { maxReads, ...config } = clientConfig(url);
  // This discards exceptions of the observer, which must not stop the writer.
  const safeObserver = combineObservers([observer]);
  const { warnings, isOneServer } = await prepareSchema(config, mustExist).catch((error: unknown) => {
    const reason = storageFaultReason(storageError(error));
    throw storageUnavailable(`${location}: ${detailed(error)}`, error, reason);
  });
  for (const warning of warnings) safeObserver.onWarning?.(warning);
  const faults: Faults = new KnownFaults(['read', 'write', 'tables', 'ids'], safeObserver);
  const cache = new PageCache();
  // A new connection can lead to a server with other data.
  const forget = () => void cache.enter(undefined);
  const reads = new ConnectionPool(config, { max: partOf(maxReads), min: 1 }, forget);
  const writes = new ConnectionPool(config, { max: 1, min: 1 });
  const others = new ConnectionPool(config, { max: partOf(OTHER_CONNECTIONS) });
  const pools = [reads, writes, others];
  const read = readsOver(reads, faults);
  const creates = groupedCreates(writes, faults, safeObserver);
  const apiKeys = apiKeyRepository(read, others);
  const testWrite = (): Promise<void> =>
    others.runStatement(WRITE_TEST).then(
      () => faults.reportSuccess('write'),
      (error) => faults.reportFailure('write', storageError(error)),
    );
  const testRead = async (): Promise<void> => {
    const [row] = await read(LAST_ID);
    if (row?.[0] === INT64_MAX) faults.reportFailure('ids', idsExhausted());
    else faults.reportSuccess('ids');
  };
  const testTables = async (): Promise<void> => {
    const [row] = isOneServer ? await read(TABLE_FAULTS) : [];
    if (row === undefined) faults.reportSuccess('tables');
    else faults.reportFailure('tables', changedTables(String(row[0])));
  };
  const test = (): Promise<unknown> =>
    Promise.allSettled([
      testRead(),
      testTables(),
      faults.of('write') === undefined ? undefined : testWrite(),
    ]);
  const close = async (): Promise<void> => {
    await Promise.all([reads.close(), creates.close()]);
    await Promise.all([writes.close(), others.close()]);
  };
  let closed: Promise<void> | undefined;
  const records = idempotentCreates(read, creates, others);
  return {
    pets: petRepository(read, creates, cache, isOneServer),
    apiKeys,
    idempotentCreates: records,
    idempotencyRecords: records,
    transfer: petTransfer(others, safeObserver),
    statistics() {
      const sumOf = (name: 'busy' | 'idle' | 'waiting') =>
        pools.reduce((sum, { statistics }) => sum + statistics[name], 0);
      return {
        pages: { ...cache.statistics },
        keys: { ...apiKeys.statistics },
        waitingWrites: creates.waiting(),
        connections: { busy: sumOf('busy'), idle: sumOf('idle'), waiting: sumOf('waiting') },
      };
    },
    async check() {
      others.assertOpen();
      await faults.check(test);
    },
    close: () => (closed ??= close()),
  };
}
