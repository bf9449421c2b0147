import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { LOCK_TIMEOUT, OPEN_LOCK_TIMEOUT, openConnection } from './driver.ts';
import { isLocked, storageError } from './errors.ts';
import { identityOf, modeOfNewFile, sizeOf, statOf } from './files.ts';
import { assertSchema, quickCheck, unsupportedSchema, versionOf } from './inspection.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** In KiB. A larger cache would not make reads faster, because the operating system caches the database file. */
const READ_CACHE_SIZE = 4096;

/** In bytes. After a burst of writes, SQLite truncates a larger write-ahead log to this size. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;

/** A file that is refused stays unchanged, so that its data can be rescued. `tryWrite` waits for other writers. */
export function prepareDatabase(
  path: string,
  { mustExist = false, tryWrite = true }: { mustExist?: boolean; tryWrite?: boolean } = {},
): void {
  if (['', ':memory:'].includes(path.trim())) {
    throw invalidRequest(
      `path: expected the path of a file, got '${path}': openMemoryStorage opens a store in memory`,
    );
  }
  if (!mustExist) createFolderOf(path);
  else if (!existsSync(path)) throw new StorageFault('file_missing', `${path}: there is no such file`);
  refuseUnusable(path);
  if (!mustExist) createFile(path);
  const before = identityOf(path);
  open(path, OPEN_LOCK_TIMEOUT, (db) => {
    const version = supportedVersion(db);
    // A restore can replace the file while its lock is awaited, and SQLite would write to the old file.
    if (identityOf(path) !== before) {
      throw storageUnavailable('the file was replaced while it was opened: start again');
    }
    const damage = quickCheck(db);
    if (damage !== undefined) throw storageUnavailable(`the database file is damaged: ${damage}`);
    if (version > 0) assertSchema(db);
    configure(db);
    if (tryWrite || version < MIGRATIONS.length) migrate(db);
  }).close();
}

export function openReader(path: string): Database.Database {
  return open(path, OPEN_LOCK_TIMEOUT, (db) => {
    configure(db);
    db.pragma(`busy_timeout = ${LOCK_TIMEOUT}`);
    db.pragma('query_only = ON');
    db.pragma(`cache_size = -${READ_CACHE_SIZE}`);
  });
}

/**
 * Checks the files before opening, because SQLite could change or create another file at this path, and again afterwards,
 * because they could have been replaced meanwhile. Errors do not name the path, because clients must not see it.
 */
export function openWriter(files: StoreFiles): Database.Database {
  assertSameFiles(files);
  return connect(files.main.path, LOCK_TIMEOUT, (db) => {
    configure(db);
    assertSameFiles(files);
  });
}

/** SQLite would treat an empty file as a new database, and delete its write-ahead log, which contains the last writes. */
function refuseUnusable(path: string): void {
  // A server that creates the store at the same time writes to the file first, and then to the log.
  const hasLog = sizeOf(`${path}-wal`) > 0;
  const file = statOf(path);
  if (file?.isDirectory()) throw storageUnavailable(`${path}: expected a file, got a directory`);
  if (file?.size === 0 && hasLog) {
    throw storageUnavailable(
      `${path}: the file is empty, but has a write-ahead log: restore it from a backup, or remove the log`,
    );
  }
}

export function createFolderOf(path: string): void {
  try {
    createFolder(dirname(path));
  } catch (error) {
    throw storageUnavailable(`cannot create the folder of ${path}`, error);
  }
}

/** SQLite would let every user of the machine read a new file. An error is ignored, because SQLite reports it too. */
function createFile(path: string): void {
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, 'a', modeOfNewFile(path)));
  } catch {}
}

/** `mkdirSync` with the option `recursive` never returns in a file system that accepts no folders, such as /proc. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/** Every error message begins with the path of the database file. */
function open(path: string, timeout: number, prepare: (db: Database.Database) => void): Database.Database {
  try {
    return connect(path, timeout, prepare);
  } catch (error) {
    const { code, message } = storageError(error);
    throw new AnimalStoreError(code, `${path}: ${message}`, { cause: error });
  }
}

export function connect(
  path: string,
  timeout: number,
  prepare: (db: Database.Database) => void,
): Database.Database {
  const db = openConnection(path, { timeout, fileMustExist: true });
  try {
    prepare(db.defaultSafeIntegers(true));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** With `synchronous = NORMAL`, a commit in WAL mode would do no fsync. */
function configure(db: Database.Database): void {
  if (setJournalMode(db) !== 'wal') {
    throw storageUnavailable('the file system does not support a write-ahead log');
  }
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
}

/** Returns the journal mode. While another process changes that of a new file, SQLite fails, and does not wait. */
function setJournalMode(db: Database.Database): unknown {
  try {
    return db.pragma('journal_mode = WAL', { simple: true });
  } catch (error) {
    if (!isLocked(error)) throw error;
    db.exec('BEGIN IMMEDIATE; COMMIT'); // Waits for the other process.
    return db.pragma('journal_mode = WAL', { simple: true });
  }
}

function supportedVersion(db: Database.Database): number {
  const version = versionOf(db, 'the file');
  const unsupported = unsupportedSchema('the file', version);
  if (unsupported !== undefined) throw storageUnavailable(unsupported);
  return version;
}

/**
 * Always writes the schema version, so that a file that cannot be written is detected at once. The version is read again,
 * because a newer release can have migrated the file while this process waited for the lock.
 */
function migrate(db: Database.Database): void {
  db.transaction(() => {
    for (const migration of MIGRATIONS.slice(supportedVersion(db))) db.exec(migration);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}
