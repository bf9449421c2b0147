/** Opens a connection to the store's file, and makes or brings up to date what is in it. */

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { AnimalStoreError } from '../../domain/errors.ts';
import { storageError } from './errors.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import type { StoreFiles } from './store-files.ts';

/** How long a connection waits for another's lock, in milliseconds. Waiting blocks its thread. */
const WRITE_LOCK_TIMEOUT = 5000;
const READ_LOCK_TIMEOUT = 100;
const OPEN_LOCK_TIMEOUT = 1500;

/** The pages that a connection for reading keeps, in KiB. The driver's 16 MiB gain nothing: the system keeps pages too. */
const READ_CACHE_SIZE = 4096;

/** What a burst of writes may leave the write-ahead log at, in bytes. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;

/** A check of the whole file takes about 1 ms per MiB: larger files are not worth the wait at the start. */
const QUICK_CHECK_LIMIT = 32 * 1024 * 1024;

/** Reads the first and the last row of each table and index. */
export const READ_ENDS: string = `SELECT
  (SELECT name FROM pets ORDER BY id LIMIT 1),
  (SELECT name FROM pets ORDER BY id DESC LIMIT 1),
  (SELECT name FROM pets INDEXED BY pets_by_status ORDER BY status, id LIMIT 1),
  (SELECT name FROM pets INDEXED BY pets_by_status ORDER BY status DESC, id DESC LIMIT 1),
  (SELECT name FROM api_keys ORDER BY id LIMIT 1),
  (SELECT name FROM api_keys ORDER BY hash LIMIT 1)`;

export interface PrepareOptions {
  /** Whether a missing file is refused rather than made. Default: false. */
  readonly mustExist?: boolean;
  /** Whether to see that the file can be written, which waits for other writers. Default: true. */
  readonly tryWrite?: boolean;
}

/** Makes the file when it is missing, and sees that it is ours, sound, writable and of the newest schema. */
export function prepareDatabase(
  path: string,
  { mustExist = false, tryWrite = true }: PrepareOptions = {},
): void {
  if (mustExist) refuseMissing(path);
  else makeFolderOf(path);
  refuseEmptied(path);
  open(path, OPEN_LOCK_TIMEOUT, (db) => {
    const version = refuseForeign(db);
    refuseDamaged(db);
    configure(db);
    if (tryWrite || version < MIGRATIONS.length) migrate(db);
  }).close();
}

/** A connection for reading. */
export function openReader(path: string): Database.Database {
  return open(path, READ_LOCK_TIMEOUT, (db) => {
    configure(db);
    db.pragma('query_only = ON');
    db.pragma(`cache_size = -${READ_CACHE_SIZE}`);
  });
}

/** A connection for writing: what it committed is on the disk. */
export function openWriter(path: string, lockTimeout: number = WRITE_LOCK_TIMEOUT): Database.Database {
  return open(path, lockTimeout, configure);
}

function refuseMissing(path: string): void {
  if (existsSync(path)) return;
  throw new AnimalStoreError('storage_unavailable', `${path}: there is no such file`);
}

/** SQLite would take it for a new database, and delete the log with what was stored last. */
function refuseEmptied(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (file?.size !== 0 || !log?.size) return;
  throw new AnimalStoreError(
    'storage_unavailable',
    `${path}: the file is empty, but has a write-ahead log: restore it from a backup, or remove the log`,
  );
}

function makeFolderOf(path: string): void {
  try {
    makeFolder(dirname(path));
  } catch (error) {
    throw new AnimalStoreError('storage_unavailable', `cannot make the folder of ${path}`, { cause: error });
  }
}

/** Node's own `recursive` never returns in a file system like /proc, where nothing can be made in a folder that exists. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/** A connection that was made ready; what fails names the file. */
function open(path: string, timeout: number, makeReady: (db: Database.Database) => void): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout });
    db.defaultSafeIntegers(true);
    makeReady(db);
    return db;
  } catch (error) {
    db?.close();
    const { code, message } = storageError(error);
    throw new AnimalStoreError(code, `${path}: ${message}`, { cause: error });
  }
}

/** In WAL mode SQLite is content with NORMAL, which makes no fsync at a commit: FULL is asked for, and read back. */
function configure(db: Database.Database): void {
  if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
    throw new AnimalStoreError('storage_unavailable', 'the file system cannot hold a write-ahead log');
  }
  db.pragma('synchronous = FULL');
  if (db.pragma('synchronous', { simple: true }) !== 2n) {
    throw new AnimalStoreError('storage_unavailable', 'SQLite refuses to make commits durable');
  }
  db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
}

/** The version of the schema of a file that is ours or empty. */
function refuseForeign(db: Database.Database): number {
  const application = db.pragma('application_id', { simple: true });
  const version = Number(db.pragma('user_version', { simple: true }));
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get();
  const isNew = application === 0n && version === 0 && tables === 0n;
  if (!isNew && application !== APPLICATION_ID) {
    throw new AnimalStoreError('storage_unavailable', 'the file is the database of another application');
  }
  if (version > MIGRATIONS.length) {
    throw new AnimalStoreError(
      'storage_unavailable',
      `the file has schema version ${version}, this release knows ${MIGRATIONS.length}: use the release that wrote it, or a newer one`,
    );
  }
  return version;
}

/** Writing the version is done at every start of a server, since it shows at once whether the file can be written. */
function migrate(db: Database.Database): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

/** Before anything is written: a damaged file is somebody's to rescue. */
function refuseDamaged(db: Database.Database): void {
  const damage = quickCheck(db);
  if (damage === undefined) return;
  throw new AnimalStoreError('storage_unavailable', `the database file is damaged: ${damage}`);
}

/** What is wrong with a file that somebody has changed while it was open; `undefined` when nothing was found. */
export function findDamage({ main, log }: StoreFiles): string | undefined {
  const { size } = statSync(main.path);
  if (size === 0) return 'the file is empty';
  const db = new Database(main.path, { readonly: true, fileMustExist: true, timeout: READ_LOCK_TIMEOUT });
  try {
    const expected = sizeOf(db.defaultSafeIntegers(true));
    // Pages that are not in the file yet are in the log.
    if (expected > size + statSync(log.path).size) return `expected ${expected} bytes, got ${size}`;
    db.prepare(READ_ENDS).get();
    return quickCheck(db);
  } finally {
    db.close();
  }
}

function quickCheck(db: Database.Database): string | undefined {
  if (sizeOf(db) > QUICK_CHECK_LIMIT) return undefined;
  const finding = db.pragma('quick_check(1)', { simple: true });
  return finding === 'ok' ? undefined : String(finding).split('\n').at(-1);
}

function sizeOf(db: Database.Database): number {
  const sql = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';
  return Number(db.prepare(sql).pluck().get());
}
