import { expect, test } from 'vitest';
import { tooManyRecords } from '../../src/application/ports/idempotent-creates.ts';
import { OverwriteRefused } from '../../src/application/ports/maintenance.ts';
import {
  STORAGE_FAULT_REASONS,
  StorageFault,
  storageFaultReason,
  storageUnavailable,
} from '../../src/application/ports/storage-fault.ts';

test('a fault is a storage_unavailable error with a reason', () => {
  const cause = new Error('ENOSPC');
  const fault = new StorageFault('disk_full', 'the disk is full', { cause });
  expect(fault).toMatchObject({
    name: 'AnimalStoreError',
    code: 'storage_unavailable',
    message: 'the disk is full',
    cause,
  });
  expect(storageFaultReason(fault)).toBe('disk_full');
});

test('an error of a storage is a fault if it has a reason, and has the cause that is given', () => {
  const cause = new Error('EIO');
  const fault = storageUnavailable('the disk failed', cause, 'io_error');
  expect(fault).toBeInstanceOf(StorageFault);
  expect(fault).toMatchObject({
    code: 'storage_unavailable',
    message: 'the disk failed',
    cause,
    reason: 'io_error',
  });
  const temporary = storageUnavailable('a lock is held', cause);
  expect(temporary).not.toBeInstanceOf(StorageFault);
  expect(temporary).toMatchObject({ code: 'storage_unavailable', message: 'a lock is held', cause });
  expect(storageUnavailable('a lock is held')).not.toHaveProperty('cause');
});

test.each(STORAGE_FAULT_REASONS)('the reason %s of another copy of the module is recognized', (reason) => {
  expect(storageFaultReason(Object.assign(new Error('x'), { reason }))).toBe(reason);
});

test.each([
  ['an error without a reason', new Error('x')],
  ['an error with an unknown reason', Object.assign(new Error('x'), { reason: 'tired' })],
  ['an object that is not an error', { reason: 'disk_full' }],
  ['undefined', undefined],
])('%s has no reason', (_, error) => {
  expect(storageFaultReason(error)).toBeUndefined();
});

test.each([
  ['in one hour', 3_600_000, 3720],
  ['now', 0, 120],
  ['in the past, but was not removed yet', -5000, 120],
  ['in a part of a second', 1, 121],
  ['too late, because its time is in the future', 999_000_000, 86_520],
  ['at an unknown time', Infinity, 86_520],
])('a caller with too many records learns when the oldest one expires: %s', (_case, wait, retryAfter) => {
  const validFrom = 1_000_000;
  const error = tooManyRecords(7, { at: validFrom + 86_400_000, validFrom }, validFrom + wait);
  expect(error).toMatchObject({
    code: 'rate_limited',
    retryAfter,
    message: `this API key has used 7 idempotency keys within 24 hours: retry after ${retryAfter} s, or create the pet without a key`,
  });
});

test('a refused overwrite is an invalid request with its own message', () => {
  expect(new OverwriteRefused('the store has pets')).toMatchObject({
    code: 'invalid_request',
    message: 'the store has pets',
  });
});
