/** Collects the current faults of a storage for its observer and for health checks. */

import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault, type StorageFaultReason } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';

/** In milliseconds. Checks within this time share one test of the storage. */
const TEST_INTERVAL = 500;

/** The current fault of each part of a storage. Notifies the observer when the reason of the most important fault changes. */
export class KnownFaults<Part extends string> {
  readonly #observer: Observer;
  readonly #faults: Map<Part, StorageFault | undefined>;
  #reported: StorageFaultReason | undefined;
  #test: Promise<unknown> = Promise.resolve();
  #testedAt = Number.NEGATIVE_INFINITY;

  /** @param parts the parts of the storage, the most important one first */
  constructor(parts: readonly Part[], observer: Observer) {
    this.#faults = new Map(parts.map((part) => [part, undefined]));
    this.#observer = observer;
  }

  get mostImportant(): StorageFault | undefined {
    return [...this.#faults.values()].find((fault) => fault !== undefined);
  }

  /** Returns the fault of a part. */
  of(part: Part): StorageFault | undefined {
    return this.#faults.get(part);
  }

  /** Sets the fault of a part. Ignores an error that is not a {@link StorageFault}. */
  reportFailure(part: Part, error: AnimalStoreError): void {
    if (error instanceof StorageFault) this.#set(part, error);
  }

  /** Ends the fault of a part that works again. */
  reportSuccess(part: Part): void {
    if (this.#faults.get(part) !== undefined) this.#set(part);
  }

  /**
   * At most once every 500 ms, calls `test`, which must call {@link reportFailure} or {@link reportSuccess}. If a fault remains,
   * rejects with the most important one.
   */
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

  /** Sets or ends a fault. The fault of a failed fsync stays, because data can be lost although the next fsync succeeds. */
  #set(part: Part, fault?: StorageFault): void {
    if (this.#faults.get(part)?.reason === 'sync_failed') return;
    this.#faults.set(part, fault);
    const shown = this.mostImportant;
    if (shown?.reason === this.#reported) return;
    this.#reported = shown?.reason;
    this.#observer.onStorageState?.(shown);
  }
}
