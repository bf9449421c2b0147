import { StorageFault, type StorageFaultReason } from '../../application/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { storageError } from './errors.ts';
import { type Failure, type Findings, failureOf, PARTS, type Part } from './findings.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** What only a restart can mend: a disk that lost data may say later that all is well, and damage spreads. */
const LASTING: readonly StorageFaultReason[] = ['sync_failed', 'damaged'];

/** How often reads have the files looked at, in milliseconds. */
const LOOK_INTERVAL = 500;

/** Told of a fault when there was none or another one; `undefined` when service returns. */
export type OnStateChange = (fault: StorageFault | undefined) => void;

/** What is known to be wrong with a storage. */
export class Health {
  readonly files: StoreFiles;
  readonly #onStateChange: OnStateChange | undefined;
  readonly #faults = new Map<Part, StorageFault>();
  #reported: StorageFaultReason | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #repeatRead: (() => unknown) | undefined;

  constructor(files: StoreFiles, onStateChange: OnStateChange | undefined) {
    this.files = files;
    this.#onStateChange = onStateChange;
  }

  get fault(): StorageFault | undefined {
    for (const part of PARTS) {
      const fault = this.#faults.get(part);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Set when nothing may be written until a restart. */
  get syncFault(): StorageFault | undefined {
    const fault = this.#faults.get('write');
    return fault?.reason === 'sync_failed' ? fault : undefined;
  }

  isFaulty(part: Part): boolean {
    return this.#faults.has(part);
  }

  apply(findings: Findings): void {
    for (const [part, failure] of Object.entries(findings) as [Part, Failure | null][]) {
      if (failure === null) this.#clear(part);
      else if (failure.reason !== undefined) {
        this.#set(part, new StorageFault(failure.reason, failure.message, { cause: failure.detail }));
      }
    }
    const { fault } = this;
    if (fault?.reason === this.#reported) return;
    this.#reported = fault?.reason;
    this.#onStateChange?.(fault);
  }

  /**
   * Throws when the files at the path are not those that are open, which it sees within half a second. A key that was
   * revoked there would still be good here, so nothing is read from the old files.
   */
  assertReadable(): void {
    const now = performance.now();
    if (now - this.#lookedAt >= LOOK_INTERVAL) {
      this.#lookedAt = now;
      this.#look();
    }
    const fault = this.#faults.get('file');
    if (fault !== undefined) throw fault;
  }

  /** What the caller of a read that failed is told. The read is repeated later, to see whether it works again. */
  readFailed(error: unknown, repeat: () => unknown): AnimalStoreError {
    const known = storageError(error);
    if (known instanceof StorageFault && known !== error) {
      this.#repeatRead = repeat;
      this.apply({ read: failureOf(error) });
    }
    return known;
  }

  repeatFailedRead(): void {
    try {
      this.#repeatRead?.();
    } catch {
      return;
    }
    this.#repeatRead = undefined;
    this.apply({ read: null });
  }

  #look(): void {
    try {
      assertSameFiles(this.files);
      if (this.#faults.has('file')) this.apply({ file: null });
    } catch (error) {
      this.apply({ file: failureOf(error) });
    }
  }

  #set(part: Part, fault: StorageFault): void {
    if (part === 'write' && this.syncFault !== undefined) return;
    this.#faults.set(part, fault);
  }

  #clear(part: Part): void {
    const reason = this.#faults.get(part)?.reason;
    if (part === 'write' && reason !== undefined && LASTING.includes(reason)) return;
    this.#faults.delete(part);
  }
}
