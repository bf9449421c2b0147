/** The parts of a store that can have a fault, and the reports of their faults. */

import { type StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import type { KnownFaults } from '../storage-kit/known-faults.ts';
import { storageError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';

/**
 * The parts, the most important one first. The fault of `files` ends when the open files are back at their paths. The fault of
 * `writes` ends when a write changes a row. After `damaged` or `io_error`, which can affect a single page, it lasts until
 * the writer has also repeated the failed writes. The fault of `reads` ends when the failed read, repeated by a test, succeeds. The
 * fault of `ids` ends when a test finds that ids are left.
 */
export const PARTS = ['files', 'writes', 'reads', 'ids'] as const;
type Part = (typeof PARTS)[number];
export type Faults = KnownFaults<Part>;

/** Reports a fault that a read or a write has found: a fault of `part`, unless its reason belongs to `files` or `ids`. */
export function reportFault(faults: Faults, part: 'writes' | 'reads', error: AnimalStoreError): void {
  const reason = storageFaultReason(error);
  const isOfFiles = reason === 'file_missing' || reason === 'file_replaced';
  faults.reportFailure(isOfFiles ? 'files' : reason === 'ids_exhausted' ? 'ids' : part, error);
}

/** When the open files are no longer at their paths, reads are refused: a key may have been revoked in the new files. */
export function checkFiles(faults: Faults, files: StoreFiles): void {
  try {
    assertSameFiles(files);
    faults.reportSuccess('files');
  } catch (error) {
    faults.reportFailure('files', storageError(error));
  }
}

/** Returns the fault of a failed fsync, after which nothing is written until a restart. */
export function syncFaultOf(faults: Faults): StorageFault | undefined {
  const fault = faults.of('writes');
  return fault?.reason === 'sync_failed' ? fault : undefined;
}
