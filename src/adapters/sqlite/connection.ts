/** Opens connections to database files, and refuses a file whose companions are lost or belong to another file. */

import { randomUUID } from 'node:crypto';
import { existsSync, linkSync } from 'node:fs';
import Database from 'better-sqlite3';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { isLocked } from './errors.ts';
import { foreignCompanion, identityOf, realPath, refuseLogAlone, removeDatabase, sizeOf } from './files.ts';

/** In milliseconds: how long a connection waits for a lock, and the time between two attempts to get it. */
const LOCK_TIMEOUT = 3000;
const LOCK_INTERVAL = 0.5;
const REMOVED = 'was removed while another process has the store open: before you stop it, see docs/watch.md';
const clock = new Int32Array(new SharedArrayBuffer(4));

/** A connection that `using` closes. */
export type Connection = Database.Database & Disposable;

/**
 * Checks and configures a new connection. Until this is done, the connection does not wait for locks.
 * @param pin throws when the file was replaced, and keeps it from being replaced until the end of the next read
 */
export type Prepare = (db: Database.Database, pin: () => void) => void;

/** Opens an existing file. A restore can replace it while the connection waits for the lock, so each attempt opens it again. */
export function connect(
  file: string,
  { timeout = LOCK_TIMEOUT, readonly = false }: { timeout?: number | undefined; readonly?: boolean } = {},
  prepare: Prepare = () => {},
): Connection {
  assertRuntime();
  // SQLite finds the log beside the file itself, not beside a link to it.
  const path = realPath(file);
  const deadline = performance.now() + timeout;
  assertOwnCompanions(path, deadline);
  return whenUnlocked(() => {
    const identity = identityOf(path);
    const assertSame = (): void => {
      if (identityOf(path) !== identity)
        throw storageUnavailable('the file was replaced while it was opened: start again');
    };
    const db = new Database(path, { readonly, timeout: 0, fileMustExist: true });
    try {
      db.pragma('user_version');
      assertWholeLog(db, path);
      // With NORMAL, which is the default of the driver in WAL mode, a commit would not call fsync.
      db.pragma('synchronous = FULL');
      prepare(db.defaultSafeIntegers(true), () => {
        lockFile(db);
        assertSame();
      });
      assertSame();
      db.pragma(`busy_timeout = ${timeout}`);
      return Object.assign(db, { [Symbol.dispose]: () => void db.close() });
    } catch (error) {
      db.close();
      throw error;
    }
  }, deadline);
}

/**
 * Opens a file for reading only. If there is a log, uses the option `readonly`, because closing a connection without this option
 * would copy the log into the file.
 */
export function connectToRead(path: string, prepare: Prepare = () => {}): Connection {
  return connect(path, { readonly: sizeOf(`${realPath(path)}-wal`) > 0 }, (db, pin) => {
    db.pragma('query_only = ON');
    prepare(db, pin);
  });
}

/** Repeats `work` while another process holds the lock. SQLite itself would wait up to 100 milliseconds between two attempts. */
export function whenUnlocked<T>(work: () => T, deadline: number): T {
  for (; ; Atomics.wait(clock, 0, 0, LOCK_INTERVAL)) {
    // The last attempt begins after the deadline, so that `work` can recognize it and throw a clearer error.
    const isLast = performance.now() >= deadline;
    try {
      return work();
    } catch (error) {
      if (isLast || !isLocked(error)) throw error;
    }
  }
}

/** Leaves WAL mode, which SQLite allows only when no other process has the store open, and begins a transaction. */
export function beginAlone(db: Database.Database, mode: 'delete' | 'memory'): void {
  db.pragma('journal_mode = DELETE');
  db.pragma(`journal_mode = ${mode}`);
  db.exec('BEGIN EXCLUSIVE');
  // Another process may have opened the store in the meantime.
  if (db.pragma('journal_mode', { simple: true }) !== mode)
    throw new Database.SqliteError('another process has the store open', 'SQLITE_BUSY');
}

/** Refuses an old version of Node.js, because the SQLite driver would crash the process with a signal. */
function assertRuntime(): void {
  const { node, bun, deno } = process.versions;
  if (bun === undefined && deno === undefined && Number.parseInt(node, 10) < 22)
    throw storageUnavailable(`SQLite needs Node.js 22 or newer, this is ${node}`);
}

/**
 * Refuses a log without its file: SQLite would delete the log. Refuses the log of another file: SQLite would apply it to this file.
 * Refuses a file without a WAL index if another process has the file open: SQLite would create a second index, and lose writes.
 */
function assertOwnCompanions(path: string, deadline: number): void {
  refuseLogAlone(path);
  const [log, index] = [`${path}-wal`, `${path}-shm`];
  whenUnlocked(() => {
    const hasLog = sizeOf(log) > 0;
    if (!hasLog && existsSync(index)) return;
    const { isWal, isAlone } = lookAt(path);
    if (hasLog && !isWal && sizeOf(log) > 0) throw foreignCompanion(log);
    if (isAlone || existsSync(index)) return;
    // Until the deadline, a process that is opening the store can create the index. If there is no log, the process that has locked
    // the file may be a restore.
    if (performance.now() >= deadline && existsSync(log)) throw storageUnavailable(`${index} ${REMOVED}`);
    throw new Database.SqliteError(`${index} is missing`, 'SQLITE_BUSY');
  }, deadline);
}

/**
 * Returns whether the file is in WAL mode, and whether no other connection has it open. After an error, assumes WAL mode, and
 * assumes another connection only if the file is locked. Opens a hard link, beside which SQLite finds no companions.
 * Opens it with SQLite, because closing a file that was opened by other means would end the locks of SQLite on it.
 */
function lookAt(path: string): { readonly isWal: boolean; readonly isAlone: boolean } {
  const link = `${path}.${randomUUID()}.partial`;
  try {
    linkSync(path, link);
    const db = new Database(link, { timeout: 0, fileMustExist: true });
    try {
      // Keeps the WAL index in memory. Otherwise, another thread that opens the file now would share the empty index of the link,
      // and overwrite the log.
      db.pragma('locking_mode = EXCLUSIVE');
      return { isWal: db.pragma('journal_mode', { simple: true }) === 'wal', isAlone: true };
    } finally {
      db.close();
    }
  } catch (error) {
    return { isWal: true, isAlone: !isLocked(error) };
  } finally {
    removeDatabase(link);
  }
}

/** Refuses a log that is smaller than its index says: SQLite would mix a new log with the index of the old one. */
function assertWholeLog(db: Database.Database, path: string): void {
  const log = `${path}-wal`;
  const frameSize = 24 + Number(db.pragma('page_size', { simple: true }));
  const isRemoved = (): boolean => {
    const [{ log: frames = 0 } = {}] = db.pragma('wal_checkpoint(NOOP)') as { log?: number }[];
    return frames > 0 && sizeOf(log) < 32 + frames * frameSize;
  };
  // A single test can be wrong, because another process can empty the log between the reads of the index and of the size.
  if (db.readonly || ![1, 2, 3].every(isRemoved)) return;
  throw storageUnavailable(`${log} ${REMOVED}`);
}

/** Takes the read lock, and keeps it until the end of the next read. In WAL mode, each connection has this lock anyway. */
function lockFile(db: Database.Database): void {
  if (db.pragma('journal_mode', { simple: true }) === 'wal') return;
  db.pragma('main.locking_mode = EXCLUSIVE');
  db.pragma('user_version');
  db.pragma('main.locking_mode = NORMAL');
}
