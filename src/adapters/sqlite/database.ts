/** Creates, checks and migrates the file of a store, and opens the connections of a storage to it. */

import { statSync } from 'node:fs';
import { normalize } from 'node:path';
import type Database from 'better-sqlite3';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { type Migration, olderSchema } from '../storage-kit/store-errors.ts';
import { beginAlone, type Connection, connect, connectToRead, type Prepare } from './connection.ts';
import { errorFrom, isLocked, plainError } from './errors.ts';
import { assertSameFiles, createFile, refuseLogAlone, type StoreFiles, sizeOf } from './files.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, testRead, versionOf } from './schema.ts';

/** In milliseconds: how long a connection of a storage waits for a lock. The wait blocks the thread of the connection. */
const LOCK_TIMEOUT = 100;
/** In KiB. A larger cache would not make reads faster, because the operating system caches the database file. */
const READ_CACHE_SIZE = 4096;
/** Maximum sizes in bytes: of the write-ahead log after a burst of writes, and of a file that is checked as a whole at the start. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;
const CHECK_LIMIT = 32 * 1024 * 1024;

interface Preparation {
  readonly mustExist?: boolean;
  readonly tryWrite?: boolean;
  readonly migration?: Migration | undefined;
}

/**
 * Creates or migrates a store. A file that is refused stays unchanged, so that its data can be rescued. With `tryWrite`, waits for
 * other writers, and refuses a file that cannot be written. Returns the previous schema version, or 0 for a new store.
 */
export function prepareDatabase(path: string, preparation: Preparation = {}): number {
  const { mustExist = false, tryWrite = true, migration = 'always' } = preparation;
  if (['', ':memory:'].includes(path.trim())) {
    const message = `expected the path of a file, got '${path}': openMemoryStorage opens a store in memory`;
    throw invalidRequest(`path: ${message}`);
  }
  if (!mustExist) createFile(path);
  return nameFile(path, () => {
    let version = 0;
    using db = connectToStore(path, (each) => {
      version = versionOf(each);
      const damage = sizeOf(normalize(path)) <= CHECK_LIMIT && damageOf(each, 'quick');
      if (damage) throw storageUnavailable(`the database file is damaged: ${damage}: restore a backup`);
      if (version > 0) testRead(each);
      else if (mustExist) throw new StorageFault('file_missing', 'the file contains no store');
      if (version > 0 && version < SCHEMA_VERSION && migration !== 'always')
        migrateAlone(each, version, migration);
    });
    // `migrate` writes even if the schema is already the newest, so that a file that cannot be written is detected at once.
    if (tryWrite || version < SCHEMA_VERSION) db.transaction(() => migrate(db)).exclusive();
    return version;
  });
}

export function openReader(path: string): Connection {
  return nameFile(path, () => {
    const db = connectToStore(path, (each) => versionOf(each));
    db.pragma(`busy_timeout = ${LOCK_TIMEOUT}`);
    db.pragma('query_only = ON');
    db.pragma(`cache_size = -${READ_CACHE_SIZE}`);
    return db;
  });
}

/** Opens a store for reading only, because it may belong to another program. An older schema is refused instead of migrated. */
export function openSource(path: string): Connection {
  const check = (db: Database.Database): void => {
    const version = versionOf(db);
    if (version === 0) throw storageUnavailable('the file contains no store');
    if (version < SCHEMA_VERSION) throw storageUnavailable(olderSchema('the file', version, SCHEMA_VERSION));
  };
  return nameFile(path, () => connectToRead(path, check));
}

/** Opens the database unless one of its files was removed or replaced. Clients see the error messages, so these contain no path. */
export function openWriter(files: StoreFiles): Database.Database {
  assertSameFiles(files);
  const [[path]] = files;
  try {
    return connectToStore(path, () => {}, LOCK_TIMEOUT);
  } catch (error) {
    if (asAnimalStoreError(error) === undefined) throw error;
    throw new StorageFault('file_replaced', 'the database files do not belong together', { cause: error });
  }
}

/** Opens a file, and turns on its write-ahead log. */
function connectToStore(path: string, check: Prepare, timeout?: number): Connection {
  return connect(path, { timeout }, (db, pin) => {
    check(db, pin);
    pin();
    if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal')
      throw storageUnavailable('the file system does not support a write-ahead log');
    // This read creates the log.
    db.pragma('user_version');
    db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
  });
}

/** Calls `open`. Every error message begins with the path of the database file. */
export function nameFile<T>(path: string, open: () => T): T {
  try {
    const stats = statSync(normalize(path), { throwIfNoEntry: false });
    if (stats === undefined) refuseLogAlone(path);
    if (stats === undefined) throw new StorageFault('file_missing', 'there is no such file');
    if (stats.isDirectory()) throw storageUnavailable('expected a file, got a directory');
    return open();
  } catch (error) {
    const plain = plainError(error);
    throw errorFrom({ ...plain, code: 'storage_unavailable', message: `${path}: ${plain.message}` }, error);
  }
}

/** Returns the damage that was found. Only `integrity_check` compares the indexes with their tables. */
export function damageOf(db: Database.Database, check: 'quick' | 'integrity'): string | undefined {
  // Pets that break a rule do not count as damage, because they can be read. A diagnosis names them.
  db.pragma('ignore_check_constraints = ON');
  const finding = db.pragma(`${check}_check(1)`, { simple: true });
  db.pragma('ignore_check_constraints = OFF');
  return finding === 'ok' ? undefined : String(finding).split('\n').at(-1);
}

function migrateAlone(db: Database.Database, version: number, migration: Migration): void {
  const older = olderSchema('the file', version, SCHEMA_VERSION);
  if (migration === 'never') throw storageUnavailable(older);
  try {
    beginAlone(db, 'delete');
    migrate(db);
    db.exec('COMMIT');
  } catch (error) {
    if (!isLocked(error)) throw error;
    throw storageUnavailable(`another process has the store open, and ${older}`, error);
  }
}

/** Reads the version again, because another process may have migrated the store in the meantime. */
function migrate(db: Database.Database): void {
  const version = versionOf(db);
  for (const [to, sql] of MIGRATIONS) if (to > version) db.exec(sql);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${SCHEMA_VERSION}`);
}
