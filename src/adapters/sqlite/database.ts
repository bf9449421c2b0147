/** Connections to a database file, and the preparation of the file: its creation, its checks and its migrations. */

import { randomUUID } from 'node:crypto';
import { linkSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { type Migration, olderSchema } from '../storage-kit/store-errors.ts';
import { errorFrom, isLocked, plainError } from './errors.ts';
import {
  assertSameFiles,
  createFile,
  foreignCompanion,
  identityOf,
  removeDatabase,
  type StoreFiles,
  sizeOf,
} from './files.ts';
import { APPLICATION_ID, migrationsOf, SCHEMA_VERSION, testRead, versionOf } from './schema.ts';

/** How long a connection waits for a lock, and blocks its thread, in milliseconds. */
const LOCK_TIMEOUT = 100;
const OPEN_LOCK_TIMEOUT = 3000;
const LOCK_INTERVAL = 0.5;
const clock = new Int32Array(new SharedArrayBuffer(4));
/** In KiB. A larger cache would not make reads faster, because the operating system caches the database file. */
const READ_CACHE_SIZE = 4096;
/** In bytes: of the write-ahead log after a burst of writes, and of a file that is checked at the start as a whole. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;
const FIRST_READ = 'SELECT count(*) FROM sqlite_schema';
const CHECK_LIMIT = 32 * 1024 * 1024;

interface Preparation {
  readonly mustExist?: boolean;
  readonly tryWrite?: boolean;
  readonly migration?: Migration | undefined;
}

/**
 * Creates or migrates a store. A file that is refused stays unchanged, so that its data can be rescued. With `tryWrite`,
 * waits for other writers, and refuses a file that cannot be written.
 */
export function prepareDatabase(
  path: string,
  { mustExist = false, tryWrite = true, migration = 'always' }: Preparation = {},
): void {
  if (['', ':memory:'].includes(path.trim())) {
    const message = `expected the path of a file, got '${path}': openMemoryStorage opens a store in memory`;
    throw invalidRequest(`path: ${message}`);
  }
  if (!mustExist) createFile(path);
  open(path, (db, assertSame, version) => {
    const damage = sizeOf(path) <= CHECK_LIMIT && damageOf(db, 'quick_check');
    if (damage) throw storageUnavailable(`the database file is damaged: ${damage}`);
    if (version > 0) testRead(db);
    else if (mustExist) throw new StorageFault('file_missing', 'the file contains no store');
    if (migration !== 'always' && version > 0 && version < SCHEMA_VERSION)
      migrateAlone(db, version, migration);
    configure(db, assertSame);
    if (tryWrite || version < SCHEMA_VERSION) migrate(db);
  }).close();
}

export function openReader(path: string): Database.Database {
  return open(path, (db, assertSame) => {
    configure(db, assertSame);
    db.pragma(`busy_timeout = ${LOCK_TIMEOUT}`);
    db.pragma('query_only = ON');
    db.pragma(`cache_size = -${READ_CACHE_SIZE}`);
  });
}

/**
 * Opens a store that another program may own. An older schema is refused instead of migrated. A connection that may write
 * removes its files at its end, but it also copies a write-ahead log into the store.
 */
export function openSource(path: string): Database.Database {
  return open(
    path,
    (db, _, version) => {
      if (version === 0) throw storageUnavailable('the file contains no store');
      if (version < SCHEMA_VERSION)
        throw storageUnavailable(olderSchema('the file', version, SCHEMA_VERSION));
      db.pragma('query_only = ON');
    },
    sizeOf(`${path}-wal`) > 0,
  );
}

/** Checks the files before SQLite can change another one, and once more afterwards. Clients are not told the path. */
export function openWriter(files: StoreFiles): Database.Database {
  assertSameFiles(files);
  const [[path] = ['']] = files;
  return connect(path, { timeout: LOCK_TIMEOUT }, (db, assertSame) => {
    configure(db, assertSame);
    assertSameFiles(files);
  });
}

/** @param assertSame throws when the file at the path is no longer the one that is open */
type Prepare = (db: Database.Database, assertSame: () => void) => void;

/**
 * Opens a file that exists. SQLite would delete the write-ahead log of an empty file, and with it the last writes. A restore
 * can replace the file while its lock is awaited, so the file is opened again for each attempt to lock it.
 */
export function connect(
  path: string,
  { timeout = OPEN_LOCK_TIMEOUT, readonly = false }: { timeout?: number; readonly?: boolean },
  prepare: Prepare,
): Database.Database {
  assertRuntime();
  const log = `${path}-wal`;
  // A server that creates the store at the same time writes to the file first, and then to the log.
  if (sizeOf(log) > 0 && sizeOf(path) === 0) {
    const advice = 'put the database file back, or restore a backup';
    throw storageUnavailable(`the file is empty, but has a write-ahead log: ${advice}`);
  }
  if (sizeOf(log) > 0 && needsNoLog(path) && sizeOf(log) > 0) throw foreignCompanion(log);
  return whenUnlocked(() => {
    const identity = identityOf(path);
    const assertSame = (): void => {
      if (identityOf(path) !== identity)
        throw storageUnavailable('the file was replaced while it was opened: start again');
    };
    const db = new Database(path, { readonly, timeout: 0, fileMustExist: true });
    try {
      readFirst(db, path);
      assertSame();
      db.pragma(`busy_timeout = ${timeout}`);
      prepare(db.defaultSafeIntegers(true), assertSame);
      assertSame();
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }, performance.now() + timeout);
}

/** SQLite would apply the log of another file. It reads the file under a name without a log, because to close a file ends locks. */
function needsNoLog(path: string): boolean {
  const link = `${path}.${randomUUID()}.partial`;
  try {
    linkSync(path, link);
    const db = new Database(link, { readonly: true, fileMustExist: true });
    try {
      return db.pragma('journal_mode', { simple: true }) !== 'wal';
    } finally {
      db.close();
    }
  } catch {
    return false;
  } finally {
    removeDatabase(link);
  }
}

/**
 * Keeps the lock of a read until the end of the next one, because a restore cannot replace a file that is locked. In the journal
 * mode WAL, each connection has this lock.
 */
export function lockIdentity(db: Database.Database, assertSame: () => void): void {
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') {
    db.pragma('main.locking_mode = EXCLUSIVE');
    db.prepare(FIRST_READ).get();
    db.pragma('main.locking_mode = NORMAL');
  }
  assertSame();
}

/** Repeats `work` while another process holds the lock. The waits of SQLite itself grow to 100 milliseconds. */
export function whenUnlocked<T>(work: () => T, deadline: number): T {
  for (; ; Atomics.wait(clock, 0, 0, LOCK_INTERVAL)) {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= deadline) throw error;
    }
  }
}

/** The driver of SQLite ends an older Node.js with a signal. */
function assertRuntime(): void {
  const { node, bun, deno } = process.versions;
  if (bun === undefined && deno === undefined && Number.parseInt(node, 10) < 22)
    throw storageUnavailable(`SQLite needs Node.js 22 or newer, this is ${node}`);
}

/**
 * Refuses a write-ahead log that is smaller than its index says: it was removed while a server has it open, and SQLite would
 * mix the new log with the index of the old one.
 */
function readFirst(db: Database.Database, path: string): void {
  const log = `${path}-wal`;
  let failure: unknown;
  try {
    db.prepare(FIRST_READ).get();
  } catch (error) {
    failure = error;
  }
  // Another process can empty the log between the two looks.
  const isRemoved = [1, 2, 3].every(() => bytesInIndex(db) > sizeOf(log));
  const advice = 'stop all servers of this store, then start them';
  if (isRemoved) throw storageUnavailable(`${log} was removed while another process has it open: ${advice}`);
  if (failure !== undefined) throw failure;
}

/** In bytes of the write-ahead log. */
function bytesInIndex(db: Database.Database): number {
  if (db.readonly) return 0;
  const [{ log = 0 } = {}] = db.pragma('wal_checkpoint(NOOP)') as { log?: number }[];
  return log > 0 ? log * (Number(db.pragma('page_size', { simple: true })) + 24) + 32 : 0;
}

/** Returns the damage that was found. `integrity_check` also compares the indexes with their tables. */
export function damageOf(
  db: Database.Database,
  check: 'quick_check' | 'integrity_check',
): string | undefined {
  // Pets that break a rule are no damage: they are named, and can be read.
  db.pragma('ignore_check_constraints = ON');
  const finding = db.pragma(`${check}(1)`, { simple: true });
  db.pragma('ignore_check_constraints = OFF');
  return finding === 'ok' ? undefined : String(finding).split('\n').at(-1);
}

/** Every error message begins with the path of the database file. */
function open(
  path: string,
  prepare: (db: Database.Database, assertSame: () => void, version: number) => void,
  readonly = false,
): Database.Database {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new StorageFault('file_missing', `${path}: there is no such file`);
  if (stats.isDirectory()) throw storageUnavailable(`${path}: expected a file, got a directory`);
  try {
    return connect(path, { readonly }, (db, assertSame) => prepare(db, assertSame, versionOf(db)));
  } catch (error) {
    const plain = plainError(error);
    throw errorFrom({ ...plain, message: `${path}: ${plain.message}` }, error);
  }
}

/** With `synchronous = NORMAL`, which is the default of the driver, a commit would do no fsync. */
function configure(db: Database.Database, assertSame: () => void): void {
  const timeout = db.pragma('busy_timeout', { simple: true });
  // SQLite must not wait for a restore here: it would mix the old file with the log of the new one.
  db.pragma('busy_timeout = 0');
  lockIdentity(db, assertSame);
  if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal')
    throw storageUnavailable('the file system does not support a write-ahead log');
  db.prepare(FIRST_READ).get();
  assertSame();
  db.pragma(`busy_timeout = ${timeout}`);
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
}

/** SQLite can leave the journal mode WAL only when no other connection exists. */
function migrateAlone(db: Database.Database, version: number, migration: Migration): void {
  const older = olderSchema('the file', version, SCHEMA_VERSION);
  if (migration === 'never') throw storageUnavailable(older);
  try {
    db.pragma('journal_mode = DELETE');
    db.pragma('synchronous = FULL');
    migrate(db, 'delete');
  } catch (error) {
    if (!isLocked(error)) throw error;
    throw storageUnavailable(`another process has the store open, and ${older}`, error);
  }
}

/** Reads the version under the lock, and always writes it, so that a file that cannot be written is detected at once. */
function migrate(db: Database.Database, mode: 'wal' | 'delete' = 'wal'): void {
  db.transaction(() => {
    // Another process can have opened the store in the meantime.
    if (db.pragma('journal_mode', { simple: true }) !== mode)
      throw new Database.SqliteError('another connection', 'SQLITE_BUSY');
    for (const migration of migrationsOf(versionOf(db))) db.exec(migration);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }).exclusive();
}
