/** The faults of a store that its observer and load balancers are told. */

import type { Observer } from '../../application/ports/observer.ts';
import type { StorageFault } from '../../application/ports/storage-fault.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { KnownFaults } from '../storage-kit/known-faults.ts';
import { storageError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';

/**
 * The parts of a store, the most important one first. Each has its last fault until it works again: the files until the open
 * ones are back, writes until one changes something, reads until the failed one succeeds, ids until some are left.
 */
const PARTS = ['files', 'writes', 'reads', 'ids'] as const;
export type Part = (typeof PARTS)[number];

/**
 * These faults of writes stay until a restart. After a failed fsync, data can be lost although the next one succeeds, and in
 * a damaged file, a write can succeed beside the damage.
 */
const FINAL: readonly unknown[] = ['sync_failed', 'damaged'];

export class StoreFaults {
  readonly files: StoreFiles;
  readonly #known: KnownFaults<Part>;

  constructor(files: StoreFiles, observer: Observer) {
    this.files = files;
    this.#known = new KnownFaults(PARTS, observer);
  }

  of(part: Part): StorageFault | undefined {
    return this.#known.of(part);
  }

  /** After a failed fsync, nothing is written any more. */
  get syncFault(): StorageFault | undefined {
    const fault = this.of('writes');
    return fault?.reason === 'sync_failed' ? fault : undefined;
  }

  get needsTestWrite(): boolean {
    const fault = this.of('writes');
    return fault !== undefined && !FINAL.includes(fault.reason);
  }

  reportFailure(part: Part, error: AnimalStoreError): void {
    const reason = storageFaultReason(error);
    if (reason === 'file_missing' || reason === 'file_replaced') this.#known.reportFailure('files', error);
    else if (reason === 'ids_exhausted') this.#known.reportFailure('ids', error);
    else if (part !== 'writes' || this.syncFault === undefined) this.#known.reportFailure(part, error);
  }

  reportSuccess(part: Part): void {
    if (part !== 'writes' || this.needsTestWrite) this.#known.reportSuccess(part);
  }

  /** Nothing is read from files that were replaced: a key that was revoked in the new ones can be active in the old ones. */
  checkFiles(): void {
    try {
      assertSameFiles(this.files);
      this.reportSuccess('files');
    } catch (error) {
      this.reportFailure('files', storageError(error));
    }
  }

  /** Rejects with the most important fault. */
  async check(testReading: () => Promise<void>): Promise<void> {
    await this.#known.check(() => {
      this.checkFiles();
      return testReading();
    });
  }
}
