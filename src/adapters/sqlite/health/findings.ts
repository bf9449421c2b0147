import { StorageFault, type StorageFaultReason } from '../../../application/ports/storage-fault.ts';
import { AnimalStoreError, type ErrorCode } from '../../../domain/errors.ts';
import { isLocked, storageError } from '../errors.ts';

/** A plain object, unlike an error, can be sent between threads. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** The message of SQLite or of the operating system. */
  readonly detail: string;
  /** `undefined` when the storage is not at fault. */
  readonly reason?: StorageFaultReason | undefined;
}

/** The most important part comes first. `file` is about the paths of the store, `access` is what a probe examines. */
export const PARTS = ['file', 'access', 'write', 'read', 'thread'] as const;
export type Part = (typeof PARTS)[number];

/** For each part that was examined: its failure, or `null` when the part is sound. */
export type Findings = Readonly<Partial<Record<Part, Failure | null>>>;

export const NOT_RESPONDING: Failure = {
  code: 'storage_unavailable',
  message: 'the disk does not respond',
  detail: 'the writer thread has not replied in time',
  reason: 'not_responding',
};

/** For example, in a program that a bundler has made without the module of the thread. */
export const NOT_STARTED: Failure = {
  code: 'storage_unavailable',
  message: 'nothing was stored, because the writer thread cannot start',
  detail: 'a bundled program must load the package animal-store from node_modules',
  reason: 'not_responding',
};

export const LOCKED: Failure = {
  code: 'storage_unavailable',
  message: 'the database is locked by another process',
  detail: 'writes were refused, because the lock was held too long',
  reason: 'locked',
};

export function failureOf(error: unknown): Failure {
  const known = storageError(error);
  const reason = known instanceof StorageFault ? known.reason : undefined;
  return { code: known.code, message: known.message, detail: String(known.cause ?? error), reason };
}

/** Returns `null` also when another process holds the lock of the database, because nothing could be checked. */
export function failureIn(check: () => void): Failure | null {
  try {
    check();
    return null;
  } catch (error) {
    return isLocked(error) ? null : failureOf(error);
  }
}

export function errorOf({ code, message, detail, reason }: Failure): AnimalStoreError {
  const options = { cause: detail };
  return reason === undefined
    ? new AnimalStoreError(code, message, options)
    : new StorageFault(reason, message, options);
}

/** A failure without a reason is an error in this program, or another process held the lock of the database. */
export function findingsOf(failure: Failure, examined: 'access' | 'write'): Findings {
  switch (failure.reason) {
    case undefined:
      return {};
    case 'file_missing':
    case 'file_replaced':
      return { file: failure };
    case 'ids_exhausted':
      return { access: failure };
    default:
      return { [examined]: failure };
  }
}
