import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import {
  hadNoEffect,
  storageError,
  UnconfirmedCommit,
  writeError,
} from '../../../src/adapters/postgres/errors.ts';
import { storageFaultReason } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

function databaseError(code: string, severity = 'ERROR'): DatabaseError {
  return Object.assign(new DatabaseError('secret', 6, 'error'), { code, severity });
}

function systemError(code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code} timeout.example.org`), { code });
}

describe('an error of PostgreSQL', () => {
  test.each([
    ['2200H', 'ids_exhausted', true],
    ['25006', 'read_only', true],
    ['42501', 'not_permitted', true],
    ['42P01', 'damaged', true],
    ['53100', 'disk_full', true],
    ['57014', 'not_responding', true],
    ['58030', 'io_error', true],
    ['XX001', 'damaged', true],
    ['08006', 'unreachable', false],
    ['57P01', 'unreachable', false],
    // These errors are temporary, so they are not faults of the storage.
    ['40001', undefined, true],
    ['40003', undefined, false],
    ['55P03', undefined, true],
    ['25P03', undefined, false, ' idle_in_transaction_session_timeout '],
    ['25P04', undefined, false, ' transaction_timeout '],
    ['57P05', undefined, false, ' idle_session_timeout '],
  ])('%s has the reason %s, and tells that there was no effect: %s', (code, reason, isKnown, part = ' ') => {
    const cause = databaseError(code);
    const error = storageError(cause);
    expect(error).toMatchObject({ code: 'storage_unavailable', cause });
    expect(storageFaultReason(error)).toBe(reason);
    expect(error.message).toMatch(new RegExp(`^[a-z].+ \\(${code}\\)$`));
    expect(error.message).toContain(part);
    expect(error.message).not.toContain('secret');
    expect(hadNoEffect(cause)).toBe(isKnown);
  });

  test.each(['22021', '23514', 'XX000'])('%s is internal', (code) => {
    const [cause, message] = [databaseError(code), `the database refused a statement: secret (${code})`];
    expect(storageError(cause)).toMatchObject({ code: 'internal_error', message, cause });
  });

  test.each([new TypeError('a mistake'), new RangeError('a mistake')])('%s is internal', (cause) => {
    expect(storageError(cause)).toMatchObject({ code: 'internal_error', message: 'a mistake', cause });
  });

  test('its severity, which is in the language of the server, never tells that a failed server had no effect', () => {
    for (const code of ['58030', '53100', 'XX000', '57P01'])
      expect(hadNoEffect(databaseError(code, 'ВАЖНО'))).toBe(false);
    for (const code of ['23514', '40001', '57014'])
      expect(hadNoEffect(databaseError(code, 'FEHLER'))).toBe(true);
  });
});

test.each([
  [systemError('ECONNRESET'), 'unreachable', 'the connection to the database failed (ECONNRESET)'],
  [new UnconfirmedCommit(), 'not_responding', 'no standby server has confirmed the commit'],
  [new Error('Query read timeout'), 'not_responding', 'the database server did not respond in time'],
  [systemError('ENOTFOUND'), 'unreachable', 'the connection to the database failed (ENOTFOUND)'],
  [new Error('Connection terminated unexpectedly'), 'unreachable', 'the connection to the database failed'],
])('an error of the connection, %s, has an unknown outcome', (cause, reason, message) => {
  expect(storageError(cause)).toMatchObject({ code: 'storage_unavailable', reason, message });
  expect(hadNoEffect(cause)).toBe(false);
  expect(writeError(cause).message).toBe(`${message}: it is unknown whether this was stored`);
});

test('a pool without a free connection is no fault of the storage', () => {
  const error = storageError(new Error('timeout exceeded when trying to connect'));
  expect(error.message).toBe('all connections to the database are in use');
  expect(storageFaultReason(error)).toBeUndefined();
});

test('an error of this program is not translated, and tells that nothing was sent', () => {
  const error = new AnimalStoreError('overloaded', 'too many');
  expect(storageError(error)).toBe(error);
  expect(writeError(error)).toBe(error);
});
