/** Opens connections to the database file, and creates or migrates its schema. */

import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { storageError } from './errors.ts';
import { modeOfNewFile } from './files.ts';
import { assertTables, identify, quickCheck, READ_LOCK_TIMEOUT } from './inspection.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

/**
 * How long a connection waits for a lock of another connection, in milliseconds: when it writes, when it reads, and
 * when `prepareDatabase` opens the file. A waiting connection blocks its thread.
 */
const WRITE_LOCK_TIMEOUT = 5000;
const OPEN_LOCK_TIMEOUT = 1500;

/**
 * The size of the page cache of a read connection, in KiB. A larger cache would not make reads faster, because the
 * operating system caches the database file.
 */
const READ_CACHE_SIZE = 4096;

/**
 * The size limit of the write-ahead log (the pragma `journal_size_limit`), in bytes. After a burst of writes, SQLite
 * truncates a larger log to this size.
 */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;

/** The names of databases that SQLite stores in no file at this path. */
const NO_FILES: readonly string[] = ['', ':memory:'];

export interface PrepareOptions {
  /** Whether a missing database file is an error. When `false`, a missing file is created. Default: false. */
  readonly mustExist?: boolean;
  /** Whether to check that the database file can be written. The check waits for other writers. Default: true. */
  readonly tryWrite?: boolean;
}

/**
 * Creates the database file when it is missing, and migrates its schema. Throws when the file is damaged or cannot be
 * written. Throws when the file belongs to another application or was written by a newer release.
 */
export function prepareDatabase(
  path: string,
  { mustExist = false, tryWrite = true }: PrepareOptions = {},
): void {
  if (mustExist) refuseMissing(path);
  else createFolderOf(path);
  refuseFolder(path);
  refuseEmptied(path);
  if (!mustExist) createFile(path);
  const before = inodeOf(path);
  open(path, OPEN_LOCK_TIMEOUT, (db) => {
    const version = refuseForeign(db);
    refuseReplaced(path, before);
    refuseDamaged(db);
    if (version === MIGRATIONS.length) assertTables(db);
    configure(db);
    if (tryWrite || version < MIGRATIONS.length) migrate(db);
  }).close();
}

/** Opens a connection for reading. */
export function openReader(path: string): Database.Database {
  return open(path, READ_LOCK_TIMEOUT, (db) => {
    configure(db);
    db.pragma('query_only = ON');
    db.pragma(`cache_size = -${READ_CACHE_SIZE}`);
  });
}

/** Opens a connection for writing. Every commit of this connection is durable. */
export function openWriter(path: string, lockTimeout: number = WRITE_LOCK_TIMEOUT): Database.Database {
  return open(path, lockTimeout, configure);
}

function refuseMissing(path: string): void {
  if (existsSync(path)) return;
  throw new StorageFault('file_missing', `${path}: there is no such file`);
}

function refuseFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new AnimalStoreError('storage_unavailable', `${path}: expected a file, got a directory`);
}

/**
 * Throws when the database file is empty but has a write-ahead log. The log contains the last writes. SQLite would
 * treat the empty file as a new database, and delete the log.
 */
function refuseEmptied(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (file?.size !== 0 || !log?.size) return;
  throw new AnimalStoreError(
    'storage_unavailable',
    `${path}: the file is empty, but has a write-ahead log: restore it from a backup, or remove the log`,
  );
}

/** Creates the folder of a database file, and the parents of the folder, unless they exist. */
export function createFolderOf(path: string): void {
  try {
    createFolder(dirname(path));
  } catch (error) {
    throw new AnimalStoreError('storage_unavailable', `cannot create the folder of ${path}`, {
      cause: error,
    });
  }
}

/**
 * Creates a missing database file, because SQLite would let every user of the machine read it. The companion files get
 * the permissions of the database file. An error is ignored: SQLite reports it when it opens the file.
 */
function createFile(path: string): void {
  if (NO_FILES.includes(path) || existsSync(path)) return;
  try {
    closeSync(openSync(path, 'a', modeOfNewFile(path)));
  } catch {}
}

/**
 * Creates a folder and its parents without the option `recursive` of `mkdirSync`. With this option, `mkdirSync` never
 * returns in a file system that accepts no new folders, such as /proc.
 */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/**
 * Opens a connection and calls `prepare` with this connection. Every error message begins with the path of the database
 * file.
 */
function open(path: string, timeout: number, prepare: (db: Database.Database) => void): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout });
    db.defaultSafeIntegers(true);
    prepare(db);
    return db;
  } catch (error) {
    db?.close();
    const { code, message } = storageError(error);
    throw new AnimalStoreError(code, `${path}: ${message}`, { cause: error });
  }
}

/**
 * Sets the journal mode WAL (write-ahead log) and `synchronous = FULL`, so that every commit is durable. With
 * `synchronous = NORMAL`, a commit in WAL mode does no fsync. Throws unless SQLite accepts both settings.
 */
function configure(db: Database.Database): void {
  if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
    throw new AnimalStoreError('storage_unavailable', 'the file system does not support a write-ahead log');
  }
  db.pragma('synchronous = FULL');
  if (db.pragma('synchronous', { simple: true }) !== 2n) {
    throw new AnimalStoreError(
      'storage_unavailable',
      'SQLite did not accept synchronous = FULL, so commits would not be durable',
    );
  }
  db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
}

/**
 * Throws when the file was replaced while its lock was awaited, which a restore does. SQLite would write to the old
 * file, and to a write-ahead log at the path of the new one.
 */
function refuseReplaced(path: string, before: bigint | undefined): void {
  if (before === undefined || inodeOf(path) === before) return;
  throw new AnimalStoreError('storage_unavailable', 'the file was replaced while it was opened: start again');
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/**
 * Returns the schema version of the database file. Throws when the file belongs to another application or was written
 * by a newer release.
 */
function refuseForeign(db: Database.Database): number {
  const { isNew, isOwn, version } = identify(db);
  if (!isNew && !isOwn) {
    throw new AnimalStoreError('storage_unavailable', 'the file is the database of another application');
  }
  if (version > MIGRATIONS.length) {
    throw new AnimalStoreError(
      'storage_unavailable',
      `the file has schema version ${version}, this release supports ${MIGRATIONS.length}: use the release that wrote it, or a newer one`,
    );
  }
  return version;
}

/**
 * Runs the migrations that were not yet applied to the database file. The schema version is written even when all
 * migrations were applied, so that a file that cannot be written is detected at once.
 */
function migrate(db: Database.Database): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

/**
 * Throws when the database file is damaged. Called before the first write, so that a damaged file stays unchanged and
 * its data can be rescued.
 */
function refuseDamaged(db: Database.Database): void {
  const damage = quickCheck(db);
  if (damage === undefined) return;
  throw new AnimalStoreError('storage_unavailable', `the database file is damaged: ${damage}`);
}
