/** The faults of a store that its observer and load balancers are told. */

import type { Observer } from '../../application/ports/observer.ts';
import { type StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { KnownFaults } from '../storage-kit/known-faults.ts';
import { storageError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';

/**
 * The parts of a store, the most important one first. Each has its last fault until it works again: the files until the open
 * ones are back, writes until one changes something, reads until the failed one succeeds, ids until some are left.
 */
const PARTS = ['files', 'writes', 'reads', 'ids'] as const;
type Part = (typeof PARTS)[number];

/** The parts of faults that any part can find. */
const FOUND_BY_ANY: Readonly<Record<string, Part>> = {
  file_missing: 'files',
  file_replaced: 'files',
  ids_exhausted: 'ids',
};

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

  /** After a failed fsync, data can be lost although the next one succeeds, so nothing is written until a restart. */
  get syncFault(): StorageFault | undefined {
    const fault = this.of('writes');
    return fault?.reason === 'sync_failed' ? fault : undefined;
  }

  /** A write in a damaged file can succeed beside the damage, so that fault stays until a restart too. */
  get needsTestWrite(): boolean {
    const reason = this.of('writes')?.reason;
    return reason !== undefined && reason !== 'sync_failed' && reason !== 'damaged';
  }

  reportFailure(finder: Part, error: AnimalStoreError): void {
    const part = FOUND_BY_ANY[storageFaultReason(error) ?? ''] ?? finder;
    if (part !== 'writes' || this.syncFault === undefined) this.#known.reportFailure(part, error);
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
    this.checkFiles();
    await this.#known.check(testReading);
  }
}
