import { DatabaseError } from 'pg';
import {
  StorageFault,
  type StorageFaultReason,
  storageFaultReason,
} from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';

interface Kind {
  readonly text: string;
  /** Missing when later requests are likely to succeed. */
  readonly reason?: StorageFaultReason;
}

/**
 * What the codes of errors mean for the storage. A code is a SQLSTATE
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html) or its class, the first two characters.
 */
const KINDS: Readonly<Record<string, Kind>> = {
  '08': { text: 'the connection to the database failed', reason: 'unreachable' },
  '2200H': { text: 'all ids have been assigned' },
  '25006': { text: 'the database server accepts no writes', reason: 'read_only' },
  '26': { text: 'a prepared statement is missing: a pooler needs the session mode', reason: 'unreachable' },
  '28': { text: 'the database server refused the login', reason: 'unreachable' },
  '3D000': { text: 'the database does not exist', reason: 'unreachable' },
  '40': { text: 'the database ended a transaction because of other transactions' },
  '42501': { text: 'the database user lacks a privilege', reason: 'unreachable' },
  '42P05': { text: 'a prepared statement exists: a pooler needs the session mode', reason: 'unreachable' },
  '42P01': { text: 'a table is missing', reason: 'damaged' },
  '53': { text: 'the database server lacks resources' },
  '53100': { text: 'the disk of the database server is full', reason: 'disk_full' },
  '53300': { text: 'the database server has no free connection', reason: 'unreachable' },
  '55': { text: 'a lock of the database is held' },
  '57': { text: 'the database server ended the statement' },
  '57014': { text: 'the database server did not complete the statement in time', reason: 'not_responding' },
  '57P01': { text: 'the database server is stopping', reason: 'unreachable' },
  '57P02': { text: 'the database server has crashed', reason: 'unreachable' },
  '57P03': { text: 'the database server is starting or stopping', reason: 'unreachable' },
  '57P05': { text: 'the database server closed an idle connection', reason: 'unreachable' },
  '58': { text: 'the disk of the database server reported an error', reason: 'io_error' },
  XX001: { text: 'the stored data is damaged', reason: 'damaged' },
  XX002: { text: 'the stored data is damaged', reason: 'damaged' },
};

/** The messages of the driver for errors that have no code. */
const TIMEOUT = /timeout/i;

/** The number of a transaction that has to be repeated: a serialization failure. */
const SERIALIZATION_FAILURE = '40001';

const LOCK_NOT_AVAILABLE = '55P03';

/** The classes of errors that one row causes: data exceptions, and violated constraints. */
const ROW_ERRORS = /^2[23]/;

/** The errors that do not tell whether the transaction was committed: a lost connection, a stop, and 40003. */
const UNKNOWN_OUTCOMES = /^(08|57P|40003)/;

/** The severities of errors that end the session, also in the middle of a commit. */
const END_OF_SESSION = /^(FATAL|PANIC)$/;

/**
 * The classes of errors that can end the session in the middle of a commit. The driver reads the severity only in the
 * language of the server, so a severity in another language does not tell whether the session has ended.
 */
const SERVER_FAILURES = /^(53|58|F0|XX)/;

/** Translates an error of the driver or of the database into an `AnimalStoreError`, and returns one unchanged. */
export function storageError(error: unknown): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  if (!(error instanceof DatabaseError)) return connectionError(error);
  const code = codeOf(error);
  const kind = KINDS[code] ?? KINDS[code.slice(0, 2)];
  if (kind !== undefined) return errorWith(kind.reason, `${kind.text} (${code})`, error);
  return new AnimalStoreError('internal_error', 'the database refused a statement', { cause: error });
}

/** Returns the error of a storage that cannot be used, without a reason when later requests are likely to succeed. */
export function errorWith(
  reason: StorageFaultReason | undefined,
  message: string,
  cause: unknown,
): AnimalStoreError {
  return reason === undefined
    ? new AnimalStoreError('storage_unavailable', message, { cause })
    : new StorageFault(reason, message, { cause });
}

/**
 * Returns the message of the translated error, and the message of its cause. A code that both contain is not repeated.
 * Contains no password.
 */
export function detailed(error: unknown): string {
  const { message, cause } = storageError(error);
  const details = cause instanceof Error ? cause.message : '';
  if (details === '') return message;
  const code = codeOf(cause);
  return `${details.includes(code) ? message.replace(` (${code})`, '') : message}: ${details}`;
}

/** Adds to an error that it is unknown whether the write was stored. */
export function outcomeUnknown(error: unknown): AnimalStoreError {
  const known = storageError(error);
  const message = `${known.message}: it is unknown whether this was stored`;
  return new AnimalStoreError('storage_unavailable', message, { cause: error });
}

/** Whether an error tells that the statement had no effect. Other errors, such as a lost connection, do not tell. */
export function hadNoEffect(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || UNKNOWN_OUTCOMES.test(codeOf(error))) return false;
  if (error.severity === 'ERROR') return true;
  return !END_OF_SESSION.test(error.severity ?? '') && !SERVER_FAILURES.test(codeOf(error));
}

/** Whether the server accepts no writes. */
export function isReadOnly(error: unknown): boolean {
  return storageFaultReason(storageError(error)) === 'read_only';
}

export function isSerializationFailure(error: unknown): boolean {
  return codeOf(error) === SERIALIZATION_FAILURE;
}

/** Whether a statement has waited for a lock for longer than its connection allows. It had no effect. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

export function isRowError(error: unknown): boolean {
  return error instanceof DatabaseError && ROW_ERRORS.test(codeOf(error));
}

function connectionError(error: unknown): AnimalStoreError {
  const code = codeOf(error);
  if (error instanceof Error && TIMEOUT.test(error.message)) {
    return errorWith('not_responding', 'the database server did not respond in time', error);
  }
  const message = `the connection to the database failed${code === '' ? '' : ` (${code})`}`;
  return errorWith('unreachable', message, error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
