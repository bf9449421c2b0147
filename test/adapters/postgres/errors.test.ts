import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { hadNoEffect, storageError, writeError } from '../../../src/adapters/postgres/errors.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

function databaseError(code: string, severity = 'ERROR'): DatabaseError {
  return Object.assign(new DatabaseError('secret', 6, 'error'), { code, severity });
}

function systemError(code: string): Error {
  return Object.assign(new Error('secret'), { code });
}

describe('an error of PostgreSQL', () => {
  test.each([
    ['2200H', 'ids_exhausted'],
    ['25006', 'read_only'],
    ['28P01', 'unreachable'],
    ['3D000', 'unreachable'],
    ['42501', 'unreachable'],
    ['42P01', 'damaged'],
    ['53100', 'disk_full'],
    ['53300', 'unreachable'],
    ['57014', 'not_responding'],
    ['57P01', 'unreachable'],
    ['57P02', 'unreachable'],
    ['57P03', 'unreachable'],
    ['58030', 'io_error'],
    ['XX001', 'damaged'],
    ['XX002', 'damaged'],
  ])('%s is a fault of the storage: %s', (code, reason) => {
    const cause = databaseError(code);
    const error = storageError(cause);
    expect(error).toBeInstanceOf(StorageFault);
    expect(error).toMatchObject({ code: 'storage_unavailable', reason, cause });
    expect(error.message).toMatch(new RegExp(`^[a-z].+ \\(${code}\\)$`));
    expect(error.message).not.toContain('secret');
  });

  test.each(['40001', '40P01', '53200', '55P03'])(
    '%s is temporary, and so no fault of the storage',
    (code) => {
      const error = storageError(databaseError(code));
      expect(error).not.toBeInstanceOf(StorageFault);
      expect(error).toMatchObject({ code: 'storage_unavailable' });
    },
  );

  test.each(['22021', '23514', '42601', 'XX000'])('%s is internal', (code) => {
    const error = storageError(databaseError(code));
    expect(error).toMatchObject({
      code: 'internal_error',
      message: `the database refused a statement: secret (${code})`,
    });
  });

  test.each([
    ['23514', true],
    ['40001', true],
    ['40P01', true],
    ['57014', true],
    ['53100', true],
    ['08006', false],
    ['40003', false],
    ['57P01', false],
    ['57P02', false],
  ])('%s tells that there was no effect: %s', (code, expected) => {
    expect(hadNoEffect(databaseError(code))).toBe(expected);
  });

  test.each([
    ['FATAL', '58030'],
    ['PANIC', '53100'],
    ['PANIC', 'XX000'],
    ['FATAL', '25P03'],
    // The severity is in the language of the server.
    ['ВАЖНО', '58030'],
    ['PANIK', '53100'],
    ['PANIK', 'XX000'],
    ['ERREUR', '58030'],
  ])('after %s %s the outcome is unknown', (severity, code) => {
    expect(hadNoEffect(databaseError(code, severity))).toBe(false);
  });

  test('a refused row had no effect, in any language', () => {
    for (const code of ['23514', '40001', '57014'])
      expect(hadNoEffect(databaseError(code, 'FEHLER'))).toBe(true);
  });
});

describe('an error of the connection', () => {
  test.each(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'EPERM'])(
    '%s is a fault, and its outcome is unknown',
    (code) => {
      const error = storageError(systemError(code));
      expect(error).toMatchObject({
        code: 'storage_unavailable',
        reason: 'unreachable',
        message: `the connection to the database failed (${code})`,
      });
      expect(hadNoEffect(systemError(code))).toBe(false);
    },
  );

  test.each([
    ['Query read timeout', 'not_responding', 'the database server did not respond in time'],
    ['timeout expired', 'not_responding', 'the database server did not respond in time'],
    ['Connection terminated unexpectedly', 'unreachable', 'the connection to the database failed'],
  ])('without a code: %s', (text, reason, message) => {
    expect(storageError(new Error(text))).toMatchObject({ code: 'storage_unavailable', reason, message });
    expect(hadNoEffect(new Error(text))).toBe(false);
  });

  test('that is no Error is translated too', () => {
    expect(storageError('text')).toMatchObject({ code: 'storage_unavailable', reason: 'unreachable' });
  });
});

test('an unknown outcome is said in the message', () => {
  expect(writeError(systemError('ECONNRESET'))).toMatchObject({
    code: 'storage_unavailable',
    message: 'the connection to the database failed (ECONNRESET): it is unknown whether this was stored',
  });
});

test('an error of this program is not translated', () => {
  const error = new AnimalStoreError('overloaded', 'too many');
  expect(storageError(error)).toBe(error);
});
