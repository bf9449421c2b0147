import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault, type StorageFaultReason } from '../../application/ports/storage-fault.ts';
import { storageError } from './errors.ts';

/** The minimum interval between two tests of the database, in milliseconds. */
const TEST_INTERVAL = 500;

export type Part = 'read' | 'write';

/** Stores the last fault of reads and of writes, and notifies the observer when the reason of the first fault changes. */
export class Health {
  readonly #observer: Observer;
  readonly #faults: Record<Part, StorageFault | undefined> = { read: undefined, write: undefined };
  #reported: StorageFaultReason | undefined;
  #test: Promise<unknown> = Promise.resolve();
  #testedAt = Number.NEGATIVE_INFINITY;

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  isFaulty(part: Part): boolean {
    return this.#faults[part] !== undefined;
  }

  succeeded(part: Part): void {
    if (this.#faults[part] !== undefined) this.#set(part, undefined);
  }

  /** Stores the fault if the error is one. An error such as a refused row is no fault. */
  failed(part: Part, error: unknown): void {
    const fault = storageError(error);
    if (fault instanceof StorageFault) this.#set(part, fault);
  }

  /**
   * Resolves when reads and writes work, and rejects with the fault otherwise. The checks within {@link TEST_INTERVAL}
   * milliseconds share one call of `test`.
   */
  async check(test: () => Promise<unknown>): Promise<void> {
    const now = performance.now();
    if (now - this.#testedAt >= TEST_INTERVAL) {
      this.#testedAt = now;
      this.#test = test();
    }
    await this.#test;
    if (this.#fault !== undefined) throw this.#fault;
  }

  get #fault(): StorageFault | undefined {
    return this.#faults.read ?? this.#faults.write;
  }

  #set(part: Part, fault: StorageFault | undefined): void {
    this.#faults[part] = fault;
    const first = this.#fault;
    if (first?.reason === this.#reported) return;
    this.#reported = first?.reason;
    this.#observer.onStorageState?.(first);
  }
}
