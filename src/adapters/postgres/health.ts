import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { storageError } from './errors.ts';

/** In milliseconds. */
const TEST_INTERVAL = 500;

export type Part = 'read' | 'write';

/** The last fault of reads and of writes. Notifies the observer when the reason of the first fault changes. */
export class Health {
  readonly #observer: Observer;
  readonly #faults: Record<Part, StorageFault | undefined> = { read: undefined, write: undefined };
  #test: Promise<unknown> = Promise.resolve();
  #testedAt = Number.NEGATIVE_INFINITY;

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  isFaulty(part: Part): boolean {
    return this.#faults[part] !== undefined;
  }

  /** Without an error, the part works. An error such as a refused row is no fault. */
  report(part: Part, error?: unknown): void {
    const fault = error === undefined ? undefined : storageError(error);
    if (fault === this.#faults[part] || (fault !== undefined && !(fault instanceof StorageFault))) return;
    const before = this.#fault;
    this.#faults[part] = fault;
    if (this.#fault?.reason !== before?.reason) this.#observer.onStorageState?.(this.#fault);
  }

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
}
