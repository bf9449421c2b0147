import { BOOLEAN, checkArgument, checkOptions, STRING } from '../../application/arguments.ts';
import { joinObservers, OBSERVER } from '../../application/observers.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { KnownFaults } from '../storage-kit/known-faults.ts';
import { MIGRATION, migrated } from '../storage-kit/store-errors.ts';
import { apiKeyRepository } from './api-key-repository.ts';
import { backUp } from './backup.ts';
import { nameFile, openReader, openSource, prepareDatabase } from './database.ts';
import { attempt } from './errors.ts';
import { checkFiles, PARTS } from './faults.ts';
import { filesOf, sizeOf } from './files.ts';
import { idempotentWrites } from './idempotent-writes.ts';
import { petChanges } from './pet-changes.ts';
import { petRepository } from './pet-repository.ts';
import { petTransfer } from './pet-transfer.ts';
import { Reads } from './reads.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { Writer } from './writer.ts';

/** The options for opening a SQLite file. */
export interface SqliteOptions {
  /** Whether a missing database file is an error. When `false`, a missing file is created. Default: false. */
  readonly mustExist?: boolean;
  /**
   * Whether the writer thread starts at once. When `false`, the writer thread starts with the first write. In this case, opening an
   * existing database file does not check that the file can be written. Default: true.
   */
  readonly startWriter?: boolean;
  /** Whether the file is only read, not created or migrated. An interrupted transaction is still rolled back. Default: false. */
  readonly readOnly?: boolean;
  /**
   * Decides whether a store of an older release is migrated, after which the older release cannot open it. `always` migrates the
   * store. `alone` migrates it if no other process has it open, and refuses it otherwise. `never` refuses it. Default: `always`.
   */
  readonly migration?: 'always' | 'alone' | 'never' | undefined;
  /** The observer that is notified of commits, of warnings and of the state of the storage. */
  readonly observer?: Observer | undefined;
}

/**
 * Opens the store in a SQLite file. Creates a missing file unless `mustExist` or `readOnly` is set. Throws `storage_unavailable`,
 * with the path in the message, when the file is damaged or cannot be written. Throws the same error when the file belongs to
 * another application or was written by a newer release.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { openSqliteStorage } from 'animal-store/sqlite';
 *
 * const observer = { onCommit: ({ writes }: { writes: number }) => console.log(writes) }; // 1
 * const store = await createAnimalStore({ storage: openSqliteStorage('./pets.db', { observer }) });
 * await store.apiKeys.create('ci');
 * await store.close();
 * ```
 */
export function openSqliteStorage(path: string, options: SqliteOptions = {}): Storage {
  checkArgument('path', path, STRING);
  checkOptions<SqliteOptions>(options, {
    mustExist: BOOLEAN,
    startWriter: BOOLEAN,
    readOnly: BOOLEAN,
    migration: MIGRATION,
    observer: OBSERVER,
  });
  const { mustExist = false, startWriter = true, readOnly = false, migration, observer = {} } = options;
  // Discards exceptions of the observer, because they must not stop the writer.
  const safeObserver = joinObservers([observer]);
  const version = readOnly ? 0 : prepareDatabase(path, { mustExist, tryWrite: startWriter, migration });
  if (version > 0 && version < SCHEMA_VERSION) safeObserver.onWarning?.(migrated(version, SCHEMA_VERSION));
  const db = readOnly ? openSource(path) : openReader(path);
  const reads = new Reads(db, new KnownFaults(PARTS, safeObserver));
  let writer: Writer | undefined;
  try {
    return nameFile(path, () => {
      writer = new Writer(filesOf(path), reads, safeObserver, readOnly);
      const storage = storageOf(reads, writer);
      if (startWriter && !readOnly) writer.start();
      return storage;
    });
  } catch (error) {
    void writer?.close();
    db.close();
    throw error;
  }
}

function storageOf(reads: Reads, writer: Writer): Storage {
  const [pets, apiKeys] = [petRepository(reads, writer), apiKeyRepository(reads, writer)];
  const writes = idempotentWrites(reads, writer);
  return {
    pets,
    apiKeys,
    idempotentCreates: writes,
    idempotencyRecords: writes,
    transfer: petTransfer(reads, writer),
    changes: petChanges(reads, writer),
    idempotentChanges: writes,
    statistics: () => ({
      pages: { ...pets.statistics },
      keys: { ...apiKeys.statistics },
      logBytes: attempt(() => sizeOf(writer.files[1][0]), undefined),
      ...writer.statistics,
    }),
    async backup(file, { signal = reads.closing, ...options } = {}) {
      reads.closing.throwIfAborted();
      const backup = backUp(writer.files, file, options, AbortSignal.any([reads.closing, signal]));
      const contents = await writer.finish(backup);
      if (contents !== undefined) options.onVerified?.(contents);
    },
    async check() {
      reads.closing.throwIfAborted();
      checkFiles(writer.faults, writer.files);
      await writer.faults.check(() => reads.test());
    },
    async close() {
      reads.close();
      await writer.close();
      reads.db.close();
    },
  };
}
