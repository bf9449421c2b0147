import { atMost } from '../../../application/at-most.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import { StorageFault, type StorageFaultReason } from '../../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import { storageError } from '../errors.ts';
import { errorOf, type Failure, type Findings, failureIn, failureOf, PARTS, type Part } from './findings.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** The minimum interval between two checks of the files before reads, and between two probes, in milliseconds. */
const INTERVAL = 500;

/**
 * How long a readiness check waits for a probe, in milliseconds. A probe tests whether the storage can be read and,
 * after a failed write, whether it can be written.
 */
const PROBE_TIMEOUT = 1000;

/**
 * Stores the known faults of a storage: at most one for each of the {@link PARTS}, such as the files of the store or the
 * writer thread. Notifies the observer when the reason of the first of these faults, in the order of `PARTS`, changes.
 */
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

  /** The first known fault in the order of {@link PARTS}, or `undefined` when the storage has no known fault. */
  get fault(): StorageFault | undefined {
    for (const part of PARTS) {
      const fault = this.#faults.get(part);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /**
   * The fault of a failed fsync, or `undefined` when no fsync has failed. After a failed fsync, all writes are refused
   * until the service is restarted.
   */
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

  /**
   * Throws when an open file of the store was removed, renamed or replaced. This change is detected within half a
   * second. After a replacement, the old files must not be read: a key that was revoked in the new files can still be
   * active in the old files.
   */
  assertReadable(): void {
    const now = performance.now();
    if (now - this.#checkedAt >= INTERVAL) {
      this.#checkedAt = now;
      this.apply({ file: failureIn(() => assertSameFiles(this.files)) });
    }
    const fault = this.#faults.get('file');
    if (fault !== undefined) throw fault;
  }

  /**
   * Translates the SQLite error of a failed read. When the storage is at fault, each readiness check calls `repeat`,
   * until the read succeeds.
   */
  readFailed(error: unknown, repeat: () => unknown): AnimalStoreError {
    const known = storageError(error);
    if (known instanceof StorageFault && known !== this.#faults.get('file')) {
      this.#repeatRead = repeat;
      this.apply({ read: failureOf(error) });
    }
    return known;
  }

  /**
   * Resolves when the storage has no known fault, and rejects with the most important fault otherwise. The checks of
   * {@link INTERVAL} milliseconds share one call of `probe`, which makes the writer thread test the storage. A slow
   * disk does not delay the caller. A disk that does not respond at all is detected by the timeout of `WriterHandle`.
   */
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

  /** Repeats the last failed read. When the read succeeds, the fault of reading has ended and is removed. */
  repeatFailedRead(): void {
    try {
      this.#repeatRead?.();
    } catch {
      return;
    }
    this.#repeatRead = undefined;
    this.apply({ read: null });
  }

  /**
   * Two faults of writing end only when the service is restarted. After a failed fsync, the disk may report success for
   * later writes although data was lost. Writes to a damaged file can cause further damage.
   */
  #setFault(part: Part, failure: Failure | null): void {
    const known = part === 'write' ? this.#faults.get(part)?.reason : undefined;
    if (known === 'sync_failed' || (known === 'damaged' && failure === null)) return;
    const fault = failure && errorOf(failure);
    if (fault === null) this.#faults.delete(part);
    else if (fault instanceof StorageFault) this.#faults.set(part, fault);
  }
}
