import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { hadNoEffect, storageError, writeError } from '../../../src/adapters/postgres/errors.ts';
import { storageFaultReason } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

function databaseError(code: string, severity = 'ERROR'): DatabaseError {
  return Object.assign(new DatabaseError('secret', 6, 'error'), { code, severity });
}

function systemError(code: string): Error {
  return Object.assign(new Error('secret'), { code });
}

describe('an error of PostgreSQL', () => {
  test.each([
    ['2200H', 'ids_exhausted', true],
    ['25006', 'read_only', true],
    ['28P01', 'unreachable', true],
    ['3D000', 'unreachable', true],
    ['42501', 'unreachable', true],
    ['42P01', 'damaged', true],
    ['53100', 'disk_full', true],
    ['53300', 'unreachable', true],
    ['57014', 'not_responding', true],
    ['58030', 'io_error', true],
    ['XX001', 'damaged', true],
    ['XX002', 'damaged', true],
    ['08006', 'unreachable', false],
    ['57P01', 'unreachable', false],
    ['57P02', 'unreachable', false],
    ['57P03', 'unreachable', false],
    // These are temporary, and so no faults of the storage.
    ['40001', undefined, true],
    ['40003', undefined, false],
    ['40P01', undefined, true],
    ['53200', undefined, true],
    ['55P03', undefined, true],
    ['25P03', undefined, false],
    ['25P04', undefined, false],
    ['57P05', undefined, false],
  ])('%s has the reason %s, and tells that there was no effect: %s', (code, reason, isKnown) => {
    const cause = databaseError(code);
    const error = storageError(cause);
    expect(error).toMatchObject({ code: 'storage_unavailable', cause });
    expect(storageFaultReason(error)).toBe(reason);
    expect(error.message).toMatch(new RegExp(`^[a-z].+ \\(${code}\\)$`));
    expect(error.message).not.toContain('secret');
    expect(hadNoEffect(cause)).toBe(isKnown);
  });

  test.each([
    ['25P03', 'idle_in_transaction_session_timeout'],
    ['25P04', 'transaction_timeout'],
    ['57P05', 'idle_session_timeout'],
  ])('%s names the setting %s', (code, setting) => {
    expect(storageError(databaseError(code, 'FATAL')).message).toContain(` ${setting} `);
  });

  test.each(['22021', '23514', '42601', 'XX000'])('%s is internal', (code) => {
    const message = `the database refused a statement: secret (${code})`;
    expect(storageError(databaseError(code))).toMatchObject({ code: 'internal_error', message });
  });

  test('its severity, which is in the language of the server, never tells that a failed server had no effect', () => {
    for (const severity of ['FATAL', 'PANIC', 'ВАЖНО', 'PANIK', 'ERREUR']) {
      for (const code of ['58030', '53100', 'XX000', '57P01'])
        expect(hadNoEffect(databaseError(code, severity))).toBe(false);
    }
    for (const code of ['23514', '40001', '57014'])
      expect(hadNoEffect(databaseError(code, 'FEHLER'))).toBe(true);
  });
});

test.each([
  [systemError('ECONNRESET'), 'unreachable', 'the connection to the database failed (ECONNRESET)'],
  [systemError('ECONNREFUSED'), 'unreachable', 'the connection to the database failed (ECONNREFUSED)'],
  [new Error('Query read timeout'), 'not_responding', 'the database server did not respond in time'],
  [new Error('timeout expired'), 'not_responding', 'the database server did not respond in time'],
  [new Error('Connection terminated unexpectedly'), 'unreachable', 'the connection to the database failed'],
  ['text', 'unreachable', 'the connection to the database failed'],
])('an error of the connection, %s, has an unknown outcome', (cause, reason, message) => {
  expect(storageError(cause)).toMatchObject({ code: 'storage_unavailable', reason, message });
  expect(hadNoEffect(cause)).toBe(false);
  expect(writeError(cause).message).toBe(`${message}: it is unknown whether this was stored`);
});

test('an error of this program is not translated, and tells that nothing was sent', () => {
  const error = new AnimalStoreError('overloaded', 'too many');
  expect(storageError(error)).toBe(error);
  expect(writeError(error)).toBe(error);
});
