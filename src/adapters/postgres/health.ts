import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { storageError } from './errors.ts';

/** The minimum interval between two tests of the database, in milliseconds. */
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

  succeeded(part: Part): void {
    if (this.isFaulty(part)) this.#set(part, undefined);
  }

  /** An error such as a refused row is no fault. */
  failed(part: Part, error: unknown): void {
    const fault = storageError(error);
    if (fault instanceof StorageFault) this.#set(part, fault);
  }

  /** Calls `test`, at most once in {@link TEST_INTERVAL} milliseconds, and then rejects with the fault if there is one. */
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
    const before = this.#fault;
    this.#faults[part] = fault;
    if (this.#fault?.reason !== before?.reason) this.#observer.onStorageState?.(this.#fault);
  }
}
