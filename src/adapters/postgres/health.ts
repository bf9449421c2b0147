import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault, type StorageFaultReason } from '../../application/ports/storage-fault.ts';
import { storageError } from './errors.ts';

/** The connections for reads, and the connections for creates. */
export type Part = 'read' | 'write';

/** Stores the last fault of both parts, and notifies the observer when the reason of the first fault changes. */
export class Health {
  readonly #observer: Observer;
  readonly #faults: Record<Part, StorageFault | undefined> = { read: undefined, write: undefined };
  #reported: StorageFaultReason | undefined;

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  get fault(): StorageFault | undefined {
    return this.#faults.read ?? this.#faults.write;
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

  #set(part: Part, fault: StorageFault | undefined): void {
    this.#faults[part] = fault;
    const first = this.fault;
    if (first?.reason === this.#reported) return;
    this.#reported = first?.reason;
    this.#observer.onStorageState?.(first);
  }
}
