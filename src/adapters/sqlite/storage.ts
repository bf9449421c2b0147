import { combineObservers } from '../../application/observers.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { SqliteApiKeyRepository } from './api-key-repository.ts';
import { backUp } from './backup.ts';
import { openReader, prepareDatabase } from './database.ts';
import { Health } from './health.ts';
import { SqliteIdempotentCreates } from './idempotent-creates.ts';
import { SqlitePetRepository } from './pet-repository.ts';
import { SqlitePetTransfer } from './pet-transfer.ts';
import { ReadSnapshot } from './read-snapshot.ts';
import { Readiness } from './readiness.ts';
import { filesOf } from './store-files.ts';
import { Writer } from './writer.ts';

/** The options for opening a SQLite file. */
export interface SqliteOptions {
  /** Whether a missing database file is an error. When `false`, a missing file is created. Default: false. */
  readonly mustExist?: boolean;
  /**
   * Whether the writer thread starts at once. When `false`, the writer thread starts with the first write. In this
   * case, opening an existing database file does not check that the file can be written. Default: true.
   */
  readonly startWriter?: boolean;
  /** The observer that is notified of commits and of the state of the storage. */
  readonly observer?: Observer | undefined;
}

/**
 * Opens the store in a SQLite file. Creates a missing file unless `mustExist` is set. Throws `storage_unavailable`,
 * with the path in the message, when the file is damaged or cannot be written. Throws the same error when the file
 * belongs to another application or was written by a newer release.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { openSqliteStorage } from 'animal-store/sqlite';
 *
 * const observer = { onCommit: ({ writes }: { writes: number }) => console.log(writes) }; // 1
 * const store = await createAnimalStore({ storage: openSqliteStorage('./pets.db', { observer }) });
 * await store.createPet({ name: 'Rex', categoryId: 7n });
 * await store.close();
 * ```
 */
export function openSqliteStorage(
  path: string,
  { mustExist = false, startWriter = true, observer = {} }: SqliteOptions = {},
): Storage {
  prepareDatabase(path, { mustExist, tryWrite: startWriter });
  const db = openReader(path);
  // `combineObservers` discards exceptions of the observer, because such an exception must not stop the writer.
  const safeObserver = combineObservers([observer]);
  const health = new Health(filesOf(path), safeObserver);
  const snapshot = new ReadSnapshot(db, health);
  const writer = new Writer(health, safeObserver, () => snapshot.leave());
  const readiness = new Readiness(health, writer);
  if (startWriter) writer.start();
  const pets = new SqlitePetRepository(db, snapshot, writer);
  const apiKeys = new SqliteApiKeyRepository(db, snapshot, writer);
  return {
    pets,
    apiKeys,
    idempotentCreates: new SqliteIdempotentCreates(db, snapshot, writer),
    transfer: new SqlitePetTransfer(path, health, {
      assertOpen: () => writer.assertOpen(),
      onCommit(commit) {
        snapshot.leave();
        safeObserver.onCommit?.(commit);
      },
    }),
    statistics: () => ({
      pages: pets.cacheStatistics,
      keys: apiKeys.cacheStatistics,
      ...writer.statistics,
    }),
    async backup(file, options) {
      writer.assertOpen();
      await backUp(path, file, options);
    },
    async check() {
      writer.assertOpen();
      try {
        snapshot.enter();
      } catch (error) {
        throw snapshot.readFailed(error, () => {});
      }
      await readiness.check();
    },
    async close() {
      await writer.close();
      snapshot.leave();
      db.close();
    },
  };
}
