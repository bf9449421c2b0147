import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import {
  errorFrom,
  failedCommit,
  fileError,
  isLocked,
  plainError,
  storageError,
  UNKNOWN,
} from '../../../src/adapters/sqlite/errors.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

function sqliteError(code: string): Error {
  return new Database.SqliteError('secret', code);
}

test.each([
  ['SQLITE_BUSY_SNAPSHOT', 'locked'],
  ['SQLITE_FULL', 'disk_full'],
  ['SQLITE_IOERR_SHMSIZE', 'disk_full'],
  ['SQLITE_IOERR_WRITE', 'io_error'],
  ['SQLITE_IOERR_FSYNC', 'sync_failed'],
  ['SQLITE_NOTADB', 'damaged'],
  ['SQLITE_READONLY_DBMOVED', 'read_only'],
])('%s has the reason %s, and keeps both as a plain object', (code, reason) => {
  const error = storageError(sqliteError(code));
  expect(error.message).toMatch(new RegExp(`^[a-z].+ \\(${code}\\)$`, 'i'));
  expect(error.message).not.toContain('secret');
  for (const each of [error, errorFrom(plainError(error))]) {
    expect(each).toMatchObject({ code: 'storage_unavailable', message: error.message });
    expect('reason' in each ? each.reason : undefined).toBe(reason);
  }
  expect(isLocked(sqliteError(code))).toBe(code.startsWith('SQLITE_BUSY'));
});

test.each([
  ['SQLITE_IOERR_FSYNC', true],
  ['SQLITE_IOERR_WRITE', true],
  // The log already has the whole transaction when its index cannot grow.
  ['SQLITE_IOERR_SHMSIZE', true],
  ['SQLITE_FULL', false],
  ['SQLITE_BUSY', false],
])('after %s during a commit, it is unknown whether it was stored: %s', (code, isUnknown) => {
  expect(failedCommit(sqliteError(code)).message.endsWith(UNKNOWN)).toBe(isUnknown);
});

test('any other error is internal, and one of this program stays as it is', () => {
  for (const cause of [sqliteError('SQLITE_ERROR'), new TypeError('no code'), 'a text', null])
    expect(storageError(cause)).toMatchObject({ code: 'internal_error', cause });
  const own = new AnimalStoreError('overloaded', 'too many');
  expect([storageError(own), fileError('cannot write', own)]).toEqual([own, own]);
  const message = 'cannot write pets.db: the disk is full (SQLITE_FULL)';
  expect(fileError('cannot write pets.db', sqliteError('SQLITE_FULL'))).toMatchObject({ message });
});
