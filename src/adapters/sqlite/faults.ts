/** The parts of a store that can have a fault, and the reports of their faults. */

import { type StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import type { KnownFaults } from '../storage-kit/known-faults.ts';
import { storageError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';

/**
 * The most important one first. The fault of `files` ends when the open files are back, that of `writes` when a write changes
 * something, that of `reads` when a test read and a read that found damage succeed, and that of `ids` when ids are left.
 */
export const PARTS = ['files', 'writes', 'reads', 'ids'] as const;
type Part = (typeof PARTS)[number];
export type Faults = KnownFaults<Part>;

/** A write and a read can find a fault of another part. */
export function reportFault(faults: Faults, part: 'writes' | 'reads', error: AnimalStoreError): void {
  const reason = storageFaultReason(error);
  const isOfFiles = reason === 'file_missing' || reason === 'file_replaced';
  faults.reportFailure(isOfFiles ? 'files' : reason === 'ids_exhausted' ? 'ids' : part, error);
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
