import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  INTERNAL,
  OBJECT,
  type OptionRules,
  STRING,
} from '../../application/arguments.ts';
import { combineObservers } from '../../application/observers.ts';
import type { Commit, Observer } from '../../application/ports/observer.ts';
import { closedError, type Storage } from '../../application/ports/storage.ts';
import { apiKeyRepository } from './api-key-repository.ts';
import { openReader, prepareDatabase } from './database.ts';
import { mountWarning, realPath } from './files.ts';
import { Health } from './health.ts';
import { idempotentCreates } from './idempotent-creates.ts';
import { backUp } from './maintenance/backup.ts';
import { petTransfer } from './maintenance/pet-transfer.ts';
import { petRepository } from './pet-repository.ts';
import { ReadSnapshot } from './read-snapshot.ts';
import { filesOf } from './store-files.ts';
import type { WriterSharing } from './write/protocol.ts';
import { Writer } from './write/writer.ts';

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
  /** @internal Set if several threads of a process share one writer thread. */
  readonly sharing?: WriterSharing | undefined;
}

const OPTIONS: OptionRules<SqliteOptions> = {
  mustExist: BOOLEAN,
  startWriter: BOOLEAN,
  observer: OBJECT,
  sharing: INTERNAL,
};

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
export function openSqliteStorage(path: string, options: SqliteOptions = {}): Storage {
  checkArgument('path', path, STRING);
  checkOptions(options, OPTIONS);
  const { mustExist = false, startWriter = true, observer = {}, sharing } = options;
  prepareDatabase(path, { mustExist, tryWrite: startWriter });
  const db = openReader(path);
  // Discards exceptions of the observer, because such an exception must not stop the writer.
  const safeObserver = combineObservers([observer]);
  const warning = mountWarning(realPath(path));
  if (warning !== undefined) safeObserver.onWarning?.(warning);
  const health = new Health(filesOf(path), safeObserver);
  const snapshot = new ReadSnapshot(db, health);
  const onCommit = (commit: Commit): void => {
    snapshot.forgetVersion();
    safeObserver.onCommit?.(commit);
  };
  const writer = new Writer(health, onCommit, sharing);
  if (startWriter) writer.start();
  const pets = petRepository(db, snapshot, writer);
  const apiKeys = apiKeyRepository(db, snapshot, writer);
  const closing = new AbortController();
  const backups = new Set<Promise<unknown>>();
  const records = idempotentCreates(db, snapshot, writer);
  return {
    pets,
    apiKeys,
    idempotentCreates: records,
    idempotencyRecords: records,
    transfer: petTransfer(db, snapshot, writer),
    statistics: () => ({
      pages: { ...pets.statistics },
      keys: { ...apiKeys.statistics },
      ...writer.statistics,
    }),
    async backup(file, options = {}) {
      writer.assertOpen();
      const signals = [closing.signal, options.signal].filter((signal) => signal !== undefined);
      const backup = backUp(path, file, options, AbortSignal.any(signals));
      backups.add(backup);
      const contents = await backup.finally(() => backups.delete(backup));
      if (contents === undefined) return;
      options.onVerified?.(contents);
    },
    async check() {
      snapshot.version();
      await health.check(() => writer.probe());
    },
    async close() {
      snapshot.close();
      closing.abort(closedError());
      await Promise.all([Promise.allSettled(backups), writer.close()]);
      db.close();
    },
  };
}
