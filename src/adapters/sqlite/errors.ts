/** The errors of SQLite and of the file system, translated into those of the application. */

import {
  StorageFault,
  type StorageFaultReason,
  storageFaultReason,
  storageUnavailable,
} from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError, type ErrorCode, isError } from '../../domain/errors.ts';
import { codeOf } from '../storage-kit/store-errors.ts';

/** Messages and reasons by result code, or by primary result code (https://sqlite.org/rescode.html). */
const FAILURES: Readonly<Record<string, readonly [message: string, reason: StorageFaultReason]>> = {
  SQLITE_BUSY: ['the database is locked by another process', 'locked'],
  SQLITE_CANTOPEN: ['the database file cannot be opened', 'io_error'],
  SQLITE_CORRUPT: ['the database file is damaged', 'damaged'],
  SQLITE_FULL: ['the disk is full', 'disk_full'],
  // The -shm file cannot grow, usually because the disk is full. The write-ahead log then already contains the failed commit.
  SQLITE_IOERR_SHMSIZE: ['the disk is full', 'disk_full'],
  SQLITE_IOERR_SHORT_READ: ['a file of the store is too short: stop all servers, then start', 'io_error'],
  SQLITE_IOERR: ['the disk reported an error', 'io_error'],
  SQLITE_NOTADB: ['the file is not a SQLite database', 'damaged'],
  SQLITE_PERM: ['the database file may not be accessed', 'read_only'],
  SQLITE_PROTOCOL: ['the database cannot be locked', 'io_error'],
  SQLITE_READONLY_DIRECTORY: ['SQLite writes files into the folder, but it is read-only', 'read_only'],
  SQLITE_READONLY: ['the database file is read-only', 'read_only'],
};

/** After a failed fsync, the operating system may discard unwritten data, and the next fsync may report success. */
const SYNC_FAILED = /^SQLITE_IOERR_(DIR_)?FSYNC$/;
/** The end of a message about a write that may have been stored. */
export const UNKNOWN: string = ': it is unknown whether this was stored';

/** An error of a storage as a plain object, which threads can send to each other. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The message of SQLite or of the operating system. */
  readonly detail: string;
  /** `undefined` unless the error is a {@link StorageFault}. */
  readonly reason: StorageFaultReason | undefined;
}

export function plainError(error: unknown): PlainError {
  const known = storageError(error);
  const { code, message, cause = error } = known;
  return { code, message, detail: String(cause), reason: storageFaultReason(known) };
}

export function errorFrom(error: PlainError, cause: unknown = error.detail): AnimalStoreError {
  const { code, message, reason } = error;
  return reason === undefined
    ? new AnimalStoreError(code, message, { cause })
    : new StorageFault(reason, message, { cause });
}

/**
 * After a failed commit, it is unknown whether the writes were stored, because a recovery can still store the pages that reached
 * the write-ahead log. After `SQLITE_FULL`, a locked database, or an error without a `reason`, nothing was stored.
 */
export function failedCommit(error: unknown): PlainError {
  const failure = plainError(error);
  const isUnknown = failure.reason !== undefined && !/^SQLITE_(BUSY|FULL)/.test(codeOf(error));
  return isUnknown ? { ...failure, message: failure.message + UNKNOWN } : failure;
}

/** Translates an error of the SQLite driver. Returns an `AnimalStoreError` unchanged. */
export function storageError(error: unknown): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  const code = codeOf(error);
  const [failure, reason] = FAILURES[code] ?? FAILURES[primaryCodeOf(code)] ?? [];
  if (failure !== undefined)
    return storageUnavailable(`${failure} (${code})`, error, SYNC_FAILED.test(code) ? 'sync_failed' : reason);
  const message = isError(error) ? error.message : String(error);
  return new AnimalStoreError('internal_error', message, { cause: error });
}

/** The cause is an exception of a callback. */
class CallbackError extends Error {}

/** Calls a callback. {@link fileError} returns an exception of the callback unchanged. */
export function callBack(callback: () => void): void {
  try {
    callback();
  } catch (cause) {
    throw new CallbackError('', { cause });
  }
}

export function fileError(failed: string, error: unknown): unknown {
  if (error instanceof CallbackError) return error.cause;
  return asAnimalStoreError(error) ?? storageUnavailable(`${failed}: ${storageError(error).message}`, error);
}

/** Whether another connection holds the lock of the database. */
export function isLocked(error: unknown): boolean {
  return primaryCodeOf(codeOf(error)) === 'SQLITE_BUSY';
}

/** For example, the primary code of `SQLITE_IOERR_WRITE` is `SQLITE_IOERR`. */
function primaryCodeOf(code: string): string {
  return code.split('_', 2).join('_');
}

/** Returns `otherwise` if `work` throws. */
export function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
