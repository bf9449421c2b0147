/** The faults of a storage that its observer and load balancers are told. */

import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault, type StorageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';

/** Checks within this time share one test of the storage, in milliseconds. */
const TEST_INTERVAL = 500;

/** The last fault of each part of a storage. Notifies the observer when the reason of the most important one changes. */
export class KnownFaults<Part extends string> {
  readonly #parts: readonly Part[];
  readonly #observer: Observer;
  readonly #faults = new Map<Part, StorageFault>();
  #reported: StorageFaultReason | undefined;
  #test: Promise<unknown> = Promise.resolve();
  #testedAt = Number.NEGATIVE_INFINITY;

  /** @param parts the parts of the storage, the most important one first */
  constructor(parts: readonly Part[], observer: Observer) {
    this.#parts = parts;
    this.#observer = observer;
  }

  get mostImportant(): StorageFault | undefined {
    const part = this.#parts.find((each) => this.#faults.has(each));
    return part && this.#faults.get(part);
  }

  /** Returns the fault of a part. */
  of(part: Part): StorageFault | undefined {
    return this.#faults.get(part);
  }

  /** A part has failed. An error that is not a {@link StorageFault} is not a fault of the storage, and changes nothing. */
  reportFailure(part: Part, error: AnimalStoreError): void {
    if (error instanceof StorageFault) this.#set(part, error);
  }

  /** A part works, so its fault is over. */
  reportSuccess(part: Part): void {
    if (this.#faults.has(part)) this.#set(part);
  }

  /** Rejects with the most important fault. `test` must report what it finds. */
  async check(test: () => Promise<unknown>): Promise<void> {
    const now = performance.now();
    if (now - this.#testedAt >= TEST_INTERVAL) {
      this.#testedAt = now;
      this.#test = test();
    }
    await this.#test;
    const fault = this.mostImportant;
    if (fault !== undefined) throw fault;
  }

  /** After a failed fsync, data can be lost although the next one succeeds, so that fault stays. */
  #set(part: Part, fault?: StorageFault): void {
    if (this.#faults.get(part)?.reason === 'sync_failed') return;
    if (fault === undefined) this.#faults.delete(part);
    else this.#faults.set(part, fault);
    const shown = this.mostImportant;
    if (shown?.reason === this.#reported) return;
    this.#reported = shown?.reason;
    this.#observer.onStorageState?.(shown);
  }
}
