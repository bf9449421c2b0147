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
  SQLITE_READONLY: 'the database file is read-only',
};

/** What the driver threw, in the words of the core. It is told by its code, `SQLITE_IOERR_WRITE` by its family. */
export function storageError(error: unknown): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const family = code.split('_', 2).join('_');
  const message = UNAVAILABLE[family];
  return message === undefined
    ? new AnimalStoreError('internal_error', 'the database refused a statement', { cause: error })
    : new AnimalStoreError('storage_unavailable', `${message} (${code})`, { cause: error });
}
