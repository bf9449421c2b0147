import { StorageFault, type StorageFaultReason } from '../../application/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';

/** Primary result codes that say that the storage is at fault, not the program (https://sqlite.org/rescode.html). */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'the database is locked by another process',
  SQLITE_CANTOPEN: 'the database file cannot be opened',
  SQLITE_CORRUPT: 'the database file is damaged',
  SQLITE_FULL: 'the disk is full, or every id has been given away',
  SQLITE_IOERR: 'the disk reports an error',
  SQLITE_LOCKED: 'the database is locked',
  SQLITE_NOTADB: 'the file is not a SQLite database',
  SQLITE_PERM: 'the database file may not be accessed',
  SQLITE_PROTOCOL: 'the database cannot be locked',
  SQLITE_READONLY: 'the database file is read-only',
};

/** Which of them say that the next request may fare no better. A lock is another process's, and goes. */
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

/** After a failed fsync the system may have dropped what it could not write, and the next fsync would say that all is well. */
const SYNC_FAILED = /^SQLITE_IOERR_(DIR_)?FSYNC$/;

/** What the driver threw, in the words of the core. It is told by its code, `SQLITE_IOERR_WRITE` by its family. */
export function storageError(error: unknown): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  const code = codeOf(error);
  const family = familyOf(code);
  const words = UNAVAILABLE[family];
  if (words === undefined) {
    return new AnimalStoreError('internal_error', 'the database refused a statement', { cause: error });
  }
  const message = `${words} (${code})`;
  const reason = SYNC_FAILED.test(code) ? 'sync_failed' : REASONS[family];
  return reason === undefined
    ? new AnimalStoreError('storage_unavailable', message, { cause: error })
    : new StorageFault(reason, message, { cause: error });
}

export function isLocked(error: unknown): boolean {
  return familyOf(codeOf(error)) === 'SQLITE_BUSY';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function familyOf(code: string): string {
  return code.split('_', 2).join('_');
}
