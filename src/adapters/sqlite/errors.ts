import { StorageFault, type StorageFaultReason } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';

/**
 * The messages for the primary result codes that mean a failure of the storage (https://sqlite.org/rescode.html). Every
 * other code means an error in this program.
 */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'the database is locked by another process',
  SQLITE_CANTOPEN: 'the database file cannot be opened',
  SQLITE_CORRUPT: 'the database file is damaged',
  SQLITE_FULL: 'the disk is full, or all ids have been assigned',
  SQLITE_IOERR: 'the disk reported an error',
  SQLITE_LOCKED: 'the database is locked',
  SQLITE_NOTADB: 'the file is not a SQLite database',
  SQLITE_PERM: 'the database file may not be accessed',
  SQLITE_PROTOCOL: 'the database cannot be locked',
  SQLITE_READONLY: 'the database file is read-only',
};

/**
 * The fault reason for each primary result code after which later requests are likely to fail. SQLITE_BUSY and
 * SQLITE_LOCKED have no reason, because a lock is temporary.
 */
const REASONS: Readonly<Record<string, StorageFaultReason>> = {
  SQLITE_CANTOPEN: 'io_error',
  SQLITE_CORRUPT: 'damaged',
  SQLITE_FULL: 'disk_full',
  SQLITE_IOERR: 'io_error',
  SQLITE_NOTADB: 'damaged',
  SQLITE_PERM: 'read_only',
  SQLITE_PROTOCOL: 'io_error',
  SQLITE_READONLY: 'read_only',
};

/**
 * Matches the result codes of a failed fsync. After a failed fsync, the operating system may discard unwritten data,
 * and the next fsync may report success.
 */
const SYNC_FAILED = /^SQLITE_IOERR_(DIR_)?FSYNC$/;

/**
 * Translates an error of the SQLite driver into an `AnimalStoreError`, according to its primary result code. For
 * example, `SQLITE_IOERR` is the primary code of the extended code `SQLITE_IOERR_WRITE`. Returns an `AnimalStoreError`
 * unchanged.
 */
export function storageError(error: unknown): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  const code = codeOf(error);
  const primaryCode = primaryCodeOf(code);
  const text = UNAVAILABLE[primaryCode];
  if (text === undefined) {
    return new AnimalStoreError('internal_error', 'the database refused a statement', { cause: error });
  }
  const message = `${text} (${code})`;
  const reason = SYNC_FAILED.test(code) ? 'sync_failed' : REASONS[primaryCode];
  return reason === undefined
    ? new AnimalStoreError('storage_unavailable', message, { cause: error })
    : new StorageFault(reason, message, { cause: error });
}

/** Translates an error of the SQLite driver. Returns any other error unchanged, such as an error of a callback. */
export function translated(error: unknown): unknown {
  return codeOf(error).startsWith('SQLITE_') ? storageError(error) : error;
}

/** Returns the error for a call after `close`. */
export function closedError(): AnimalStoreError {
  return new AnimalStoreError('storage_unavailable', 'the storage is closed');
}

/** Returns whether an error means that another process holds the lock of the database. */
export function isLocked(error: unknown): boolean {
  return primaryCodeOf(codeOf(error)) === 'SQLITE_BUSY';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function primaryCodeOf(code: string): string {
  return code.split('_', 2).join('_');
}
