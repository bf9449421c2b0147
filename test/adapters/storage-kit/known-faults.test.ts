import { beforeEach, expect, test, vi } from 'vitest';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

const UNREACHABLE = new StorageFault('unreachable', 'no connection');
const FULL = new StorageFault('disk_full', 'no space');

let reported: (string | undefined)[];
let faults: KnownFaults<'read' | 'write'>;

beforeEach(() => {
  reported = [];
  faults = new KnownFaults(['read', 'write'], { onStorageState: (fault) => reported.push(fault?.reason) });
});

test('the observer is notified when the reason of the most important fault changes', () => {
  faults.reportSuccess('read');
  faults.reportFailure('write', FULL);
  faults.reportFailure('write', new StorageFault('disk_full', 'still no space'));
  faults.reportFailure('read', UNREACHABLE);
  expect(faults.mostImportant).toBe(UNREACHABLE);
  faults.reportSuccess('write');
  expect(faults.of('write')).toBeUndefined();
  expect(faults.of('read')).toBe(UNREACHABLE);
  faults.reportSuccess('read');
  expect(faults.mostImportant).toBeUndefined();
  expect(reported).toEqual(['disk_full', 'unreachable', undefined]);
});

test('an error that is no fault changes nothing', () => {
  const refused = new AnimalStoreError('internal_error', 'refused');
  faults.reportFailure('write', refused);
  expect(faults.mostImportant).toBeUndefined();
  faults.reportFailure('write', FULL);
  faults.reportFailure('write', refused);
  expect(faults.of('write')).toBe(FULL);
  expect(reported).toEqual(['disk_full']);
});

test('a failed fsync stays until a restart', () => {
  const failed = new StorageFault('sync_failed', 'no fsync');
  faults.reportFailure('write', failed);
  faults.reportFailure('write', FULL);
  faults.reportSuccess('write');
  expect(faults.of('write')).toBe(failed);
  expect(reported).toEqual(['sync_failed']);
});

test('checks within half a second share a test, and reject with the most important fault', async () => {
  let now = 5;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const check = vi.fn(async () => faults.reportFailure('write', FULL));
  await expect(faults.check(check)).rejects.toBe(FULL);
  now += 499;
  await expect(faults.check(check)).rejects.toBe(FULL);
  expect(check).toHaveBeenCalledTimes(1);
  now += 1;
  await faults.check(async () => faults.reportSuccess('write'));
});
