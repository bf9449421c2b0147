/** Translates the errors of the driver. */

import { DatabaseError } from 'pg';
import { type StorageFaultReason, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError, isError } from '../../domain/errors.ts';
import type { KnownFaults } from '../storage-kit/known-faults.ts';
import { codeOf, rowDropped } from '../storage-kit/store-errors.ts';

export type Faults = KnownFaults<'read' | 'rows' | 'write'>;

/**
 * Messages and reasons by SQLSTATE, or by its first two or three characters. An error without a reason is not a fault of the
 * storage: later requests are likely to succeed.
 */
const KINDS: Readonly<Record<string, readonly [text: string, reason?: StorageFaultReason]>> = {
  '08': ['the connection to the database failed', 'unreachable'],
  '2200H': ['all ids have been assigned', 'ids_exhausted'],
  '25006': ['the database accepts no writes', 'read_only'],
  '25P03': ['the setting idle_in_transaction_session_timeout of the database ended the session'],
  '25P04': ['the setting transaction_timeout of the database ended the session'],
  '26': ['a prepared statement is missing: a pooler needs the session mode', 'unreachable'],
  '28': ['the database server refused the login', 'unreachable'],
  '3D000': ['the database does not exist', 'unreachable'],
  '40': ['the database ended a transaction because of other transactions'],
  '42501': ['the database user lacks a privilege', 'not_permitted'],
  '42': ['the tables are not those of this release', 'damaged'],
  '42P05': ['a prepared statement exists: a pooler needs the session mode', 'unreachable'],
  '42P01': ['a table is missing', 'damaged'],
  '53': ['the database server lacks resources'],
  '53100': ['the disk of the database server is full', 'disk_full'],
  '53300': ['the database server has no free connection', 'unreachable'],
  '55': ['a lock of the database is held'],
  '55P03': ['another transaction held a lock of the database for too long, so nothing was stored'],
  '57': ['the database server ended the statement'],
  '57014': ['the database server did not complete the statement in time', 'not_responding'],
  '57P': ['the database server ended or refused the connection', 'unreachable'],
  '57P05': ['the setting idle_session_timeout of the database ended the session'],
  '58': ['the disk of the database server reported an error', 'io_error'],
  XX001: ['the stored data is damaged', 'damaged'],
  XX002: ['the stored data is damaged', 'damaged'],
};

/** After these errors, it is unknown whether the transaction was committed, because they can end a session during a commit. */
const UNKNOWN_OUTCOMES = /^(08|25P0[34]|57P|40003)/;
const SERVER_FAILURES = /^(53|58|F0|XX)/;
const CERTIFICATE_CODES = /CERT|SIGNED|UNABLE_TO|^ERR_TLS/;
const CERTIFICATES =
  ': with each sslmode but disable and no-verify, the certificate and the host name are verified, against sslrootcert or the authorities of Node.js';

export class UnconfirmedCommit extends Error {
  override readonly message: string = 'no standby server has confirmed the commit';
}

export function storageError(error: unknown): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  const code = codeOf(error);
  if (error instanceof DatabaseError) {
    // Statements divide by zero on purpose, to fail when rows are missing.
    if (code === '22012') return rowDropped();
    const [text, reason] = KINDS[code] ?? KINDS[code.slice(0, 3)] ?? KINDS[code.slice(0, 2)] ?? [];
    if (text !== undefined) return storageUnavailable(`${text} (${code})`, error, reason);
    const message = `the database refused a statement: ${error.message} (${code})`;
    return new AnimalStoreError('internal_error', message, { cause: error });
  }
  if (error instanceof UnconfirmedCommit) return storageUnavailable(error.message, error, 'not_responding');
  // The timeouts of the driver itself have no code.
  if (isError(error) && error.message === 'timeout exceeded when trying to connect')
    return storageUnavailable('all connections to the database are in use', error);
  if (isError(error) && code === '' && /timeout/i.test(error.message))
    return storageUnavailable('the database server did not respond in time', error, 'not_responding');
  if (isError(error) && /^(?:Type|Range)Error$/.test(error.name))
    return new AnimalStoreError('internal_error', error.message, { cause: error });
  const suffix = `${code && ` (${code})`}${CERTIFICATE_CODES.test(code) ? CERTIFICATES : ''}`;
  return storageUnavailable(`the connection to the database failed${suffix}`, error, 'unreachable');
}

/**
 * Whether a single write of a statement can be the cause of the error. A missing privilege (42501) affects every write, unless a
 * trigger has raised this code.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof DatabaseError && hadNoEffect(error))) return false;
  const isRaised = error.routine === 'exec_stmt_raise';
  return isRaised || error.code === '2200H' || storageError(error).code === 'internal_error';
}

/** Returns the messages of the error and of its cause, without a password. A code that both contain is shown only once. */
export function detailed(error: unknown): string {
  const { message, cause } = storageError(error);
  if (!isError(cause) || cause.message === '') return message;
  const code = codeOf(cause);
  return `${cause.message.includes(code) ? message.replace(` (${code})`, '') : message}: ${cause.message}`;
}

export function writeError(error: unknown): AnimalStoreError {
  const known = storageError(error);
  if (hadNoEffect(error)) return known;
  return storageUnavailable(`${known.message}: it is unknown whether this was stored`, error);
}

/**
 * Whether it is certain that nothing was stored. An `AnimalStoreError` means that nothing was sent. The severity depends on the
 * language of the server, so if it is not the word `ERROR`, the SQLSTATE decides.
 */
export function hadNoEffect(error: unknown): boolean {
  if (asAnimalStoreError(error) !== undefined) return true;
  if (!(error instanceof DatabaseError) || UNKNOWN_OUTCOMES.test(codeOf(error))) return false;
  return error.severity === 'ERROR' || !SERVER_FAILURES.test(codeOf(error));
}
