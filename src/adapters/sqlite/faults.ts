/** The faults of a store. */

import { type StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import type { KnownFaults } from '../storage-kit/known-faults.ts';
import { storageError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';

/**
 * The most important one first. Each has its last fault until it works again: the files until the open ones are back, writes
 * until one changes something, reads until the failed one succeeds, ids until some are left.
 */
export const PARTS = ['files', 'writes', 'reads', 'ids'] as const;
type Part = (typeof PARTS)[number];
export type Faults = KnownFaults<Part>;

/** A write can find a fault of another part. */
export function reportFailedWrite(faults: Faults, error: AnimalStoreError): void {
  const reason = storageFaultReason(error);
  const isOfFiles = reason === 'file_missing' || reason === 'file_replaced';
  faults.reportFailure(isOfFiles ? 'files' : reason === 'ids_exhausted' ? 'ids' : 'writes', error);
}

/** Nothing is read from files that were replaced: a key that was revoked in the new ones can be active in the old ones. */
export function checkFiles(faults: Faults, files: StoreFiles): void {
  try {
    assertSameFiles(files);
    faults.reportSuccess('files');
  } catch (error) {
    faults.reportFailure('files', storageError(error));
  }
}

/** After a failed fsync, nothing is written until a restart. */
export function syncFaultOf(faults: Faults): StorageFault | undefined {
  const fault = faults.of('writes');
  return fault?.reason === 'sync_failed' ? fault : undefined;
}

/** A write in a damaged file can succeed beside the damage, so that fault stays until a restart too. */
export function canRecover(faults: Faults): boolean {
  return syncFaultOf(faults) === undefined && faults.of('writes')?.reason !== 'damaged';
}
