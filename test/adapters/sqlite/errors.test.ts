import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import {
  errorFrom,
  fileError,
  isLocked,
  plainError,
  storageError,
  translated,
} from '../../../src/adapters/sqlite/errors.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

function sqliteError(code: string): Error {
  return new Database.SqliteError('secret', code);
}

describe('an error of SQLite', () => {
  test.each([
    ['SQLITE_CANTOPEN_ISDIR', 'io_error'],
    ['SQLITE_CORRUPT', 'damaged'],
    ['SQLITE_CORRUPT_INDEX', 'damaged'],
    ['SQLITE_FULL', 'disk_full'],
    ['SQLITE_IOERR_WRITE', 'io_error'],
    ['SQLITE_IOERR_FSYNC', 'sync_failed'],
    ['SQLITE_IOERR_DIR_FSYNC', 'sync_failed'],
    ['SQLITE_NOTADB', 'damaged'],
    ['SQLITE_PERM', 'read_only'],
    ['SQLITE_PROTOCOL', 'io_error'],
    ['SQLITE_READONLY_DBMOVED', 'read_only'],
  ])('%s is a fault of the storage: %s', (code, reason) => {
    const cause = sqliteError(code);
    const error = storageError(cause);
    expect(error).toBeInstanceOf(StorageFault);
    expect(error).toMatchObject({ code: 'storage_unavailable', reason, cause });
    expect(error.message).toMatch(new RegExp(`^[a-z].+ \\(${code}\\)$`));
    expect(error.message).not.toContain('secret');
  });

  test.each(['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_LOCKED', 'SQLITE_LOCKED_SHAREDCACHE'])(
    '%s is temporary, and so no fault of the storage',
    (code) => {
      const cause = sqliteError(code);
      const error = storageError(cause);
      expect(error).not.toBeInstanceOf(StorageFault);
      expect(error).toMatchObject({ code: 'storage_unavailable', cause });
      expect(error.message).toMatch(new RegExp(`^the database is locked.*\\(${code}\\)$`));
    },
  );

  test.each([
    [
      sqliteError('SQLITE_CONSTRAINT_NOTNULL'),
      'the database refused a statement: secret (SQLITE_CONSTRAINT_NOTNULL)',
    ],
    [sqliteError('SQLITE_ERROR'), 'the database refused a statement: secret (SQLITE_ERROR)'],
    [new TypeError('no code'), 'no code'],
    [{ code: 'SQLITE_BUSY' }, '[object Object]'],
    ['a text', 'a text'],
    [null, 'null'],
  ])('any other error is internal, and has its own message: %j', (cause, message) => {
    expect(storageError(cause)).toMatchObject({ code: 'internal_error', cause, message });
    expect(isLocked(cause)).toBe(false);
  });
});

test('an error of this program is not translated', () => {
  const error = new AnimalStoreError('overloaded', 'too many');
  expect(storageError(error)).toBe(error);
});

test('outside of statements, only an error of SQLite is translated', () => {
  expect(translated(sqliteError('SQLITE_FULL'))).toMatchObject({ reason: 'disk_full' });
  for (const error of [new Error('no code'), Object.assign(new Error(), { code: 'ENOENT' }), 'a text']) {
    expect(translated(error)).toBe(error);
  }
});

describe('an error of an operation on a file', () => {
  test.each([
    [Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }), 'EACCES: permission denied'],
    [sqliteError('SQLITE_FULL'), 'the disk is full (SQLITE_FULL)'],
  ])('%s has the operation in its message', (cause, message) => {
    const error = fileError('cannot write pets.db', cause);
    expect(error).toMatchObject({ code: 'storage_unavailable', cause });
    expect(error.message).toBe(`cannot write pets.db: ${message}`);
  });

  test('is unchanged when it is an error of this program', () => {
    const error = new AnimalStoreError('invalid_request', 'pets.db exists');
    expect(fileError('cannot write pets.db', error)).toBe(error);
  });
});

test('only SQLITE_BUSY means that another process holds the lock', () => {
  expect(isLocked(sqliteError('SQLITE_BUSY'))).toBe(true);
  expect(isLocked(sqliteError('SQLITE_BUSY_RECOVERY'))).toBe(true);
  expect(isLocked(sqliteError('SQLITE_LOCKED'))).toBe(false);
});

describe('an error as a plain object', () => {
  test('has the message of the cause as its detail', () => {
    const fault = new StorageFault('damaged', 'the file is damaged', { cause: 'page 7' });
    expect(plainError(fault)).toEqual({
      code: 'storage_unavailable',
      message: 'the file is damaged',
      detail: 'page 7',
      reason: 'damaged',
    });
    expect(plainError(sqliteError('SQLITE_BUSY'))).toMatchObject({
      detail: 'SqliteError: secret',
      reason: undefined,
    });
    expect(plainError(new AnimalStoreError('not_found', 'no pet')).detail).toBe('AnimalStoreError: no pet');
  });

  test.each([
    new StorageFault('damaged', 'the file is damaged', { cause: 'page 7' }),
    new AnimalStoreError('internal_error', 'an error', { cause: 'no table' }),
  ])('becomes an error with the same attributes: %s', (error) => {
    const again = errorFrom(plainError(error));
    expect(again).toBeInstanceOf(error.constructor);
    expect({ ...again, message: again.message }).toEqual({ ...error, message: error.message });
    expect(again.cause).toBe(error.cause);
  });
});
