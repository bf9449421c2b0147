import { expect, test } from 'vitest';
import {
  STORAGE_FAULT_REASONS,
  StorageFault,
  storageFaultReason,
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
