import { expect, test } from 'vitest';
import { OverwriteRefused } from '../../src/application/ports/maintenance.ts';
import { idsNotAccepted } from '../../src/application/ports/pet-transfer.ts';
import { closedError } from '../../src/application/ports/storage.ts';
import {
  StorageFault,
  storageFaultReason,
  storageUnavailable,
} from '../../src/application/ports/storage-fault.ts';

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

test.each([
  ['an error of another copy of the module', Object.assign(new Error('x'), { reason: 'locked' }), 'locked'],
  ['an error without a reason', new Error('x'), undefined],
  ['an error with an unknown reason', Object.assign(new Error('x'), { reason: 'tired' }), undefined],
  ['an object that is not an error', { reason: 'disk_full' }, undefined],
])('the reason of %s', (_, error, reason) => {
  expect(storageFaultReason(error)).toBe(reason);
});

test('what several storages refuse has the same words, and a refused overwrite has its own', () => {
  expect(closedError()).toMatchObject({ code: 'storage_unavailable', message: 'the store is closed' });
  expect(idsNotAccepted()).toMatchObject({
    code: 'invalid_request',
    message: 'ids can be imported only into a store that has never had a pet',
  });
  expect(new OverwriteRefused('the store has pets')).toMatchObject({
    code: 'invalid_request',
    message: 'the store has pets',
    reason: 'overwrite_refused',
  });
});
