import { atMost } from '../../../application/at-most.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import { StorageFault, type StorageFaultReason } from '../../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import { storageError } from '../errors.ts';
import { errorOf, type Failure, type Findings, failureIn, failureOf, PARTS, type Part } from './findings.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** Between two checks of the files before reads, and between two probes, in milliseconds. */
const INTERVAL = 500;

/** In milliseconds: a slow disk must not delay a readiness check. `WriterHandle` detects a disk that hangs. */
const PROBE_TIMEOUT = 1000;

/** The known faults of a storage. Notifies the observer when the reason of the most important fault changes. */
export class Health {
  readonly files: StoreFiles;
  readonly #observer: Observer;
  readonly #faults = new Map<Part, StorageFault>();
  #reported: StorageFaultReason | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #repeatRead: (() => unknown) | undefined;
  #probe: Promise<void> = Promise.resolve();
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(files: StoreFiles, observer: Observer) {
    this.files = files;
    this.#observer = observer;
  }

  /** The most important of the known faults. */
  get fault(): StorageFault | undefined {
    const part = PARTS.find((each) => this.#faults.has(each));
    return part && this.#faults.get(part);
  }

  /** After a failed fsync, all writes are refused until the service is restarted. */
  get syncFault(): StorageFault | undefined {
    const fault = this.#faults.get('write');
    return fault?.reason === 'sync_failed' ? fault : undefined;
  }

  isFaulty(part: Part): boolean {
    return this.#faults.has(part);
  }

  apply(findings: Findings): void {
    for (const part of PARTS) {
      const failure = findings[part];
      if (failure !== undefined) this.#setFault(part, failure);
    }
    const { fault } = this;
    if (fault?.reason === this.#reported) return;
    this.#reported = fault?.reason;
    this.#observer.onStorageState?.(fault);
  }

  /** Refuses to read files that were replaced: a key that was revoked in the new files can be active in the old ones. */
  assertReadable(): void {
    const now = performance.now();
    if (now - this.#checkedAt >= INTERVAL) {
      this.#checkedAt = now;
      this.apply({ file: failureIn(() => assertSameFiles(this.files)) });
    }
    const fault = this.#faults.get('file');
    if (fault !== undefined) throw fault;
  }

  /** Translates the error of a read. When the storage is at fault, each readiness check repeats the read. */
  readFailed(error: unknown, repeat: () => unknown): AnimalStoreError {
    const known = storageError(error);
    if (known instanceof StorageFault && known !== this.#faults.get('file')) {
      this.#repeatRead = repeat;
      this.apply({ read: failureOf(error) });
    }
    return known;
  }

  /** Rejects with the most important fault. Calls within {@link INTERVAL} milliseconds share one call of `probe`. */
  async check(probe: () => Promise<void>): Promise<void> {
    const now = performance.now();
    if (now - this.#probedAt >= INTERVAL) {
      this.#probedAt = now;
      this.repeatFailedRead();
      this.#probe = atMost(PROBE_TIMEOUT, probe());
    }
    await this.#probe;
    const { fault } = this;
    if (fault !== undefined) throw fault;
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

  /** Only a restart ends the fault of a failed fsync, after which data may be lost, or of writing a damaged file. */
  #setFault(part: Part, failure: Failure | null): void {
    const known = part === 'write' ? this.#faults.get(part)?.reason : undefined;
    if (known === 'sync_failed' || (known === 'damaged' && failure === null)) return;
    const fault = failure && errorOf(failure);
    if (fault === null) this.#faults.delete(part);
    else if (fault instanceof StorageFault) this.#faults.set(part, fault);
  }
}
