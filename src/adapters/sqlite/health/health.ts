import { atMost } from '../../../application/at-most.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import { StorageFault } from '../../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import { KnownFaults } from '../../storage-kit/known-faults.ts';
import { storageError } from '../errors.ts';
import { errorOf, type Failure, type Findings, failureIn, failureOf, PARTS, type Part } from './findings.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** Between two checks of the files before reads, in milliseconds. */
const INTERVAL = 500;

/** In milliseconds: a slow disk must not delay a readiness check. `WriterHandle` detects a disk that hangs. */
const PROBE_TIMEOUT = 1000;

/** What is known about the files of the store, the disk, and the writer thread. */
export class Health {
  readonly files: StoreFiles;
  readonly #faults: KnownFaults<Part>;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #repeatRead: (() => unknown) | undefined;

  constructor(files: StoreFiles, observer: Observer) {
    this.files = files;
    this.#faults = new KnownFaults(PARTS, observer);
  }

  get fault(): StorageFault | undefined {
    return this.#faults.mostImportant;
  }

  /** After a failed fsync, all writes are refused until the service is restarted. */
  get syncFault(): StorageFault | undefined {
    const fault = this.#faults.of('write');
    return fault?.reason === 'sync_failed' ? fault : undefined;
  }

  isFaulty(part: Part): boolean {
    return this.#faults.of(part) !== undefined;
  }

  apply(findings: Findings): void {
    const found: Partial<Record<Part, AnimalStoreError | null>> = {};
    for (const part of PARTS) {
      const failure = findings[part];
      if (failure !== undefined && !this.#mustStay(part, failure)) found[part] = failure && errorOf(failure);
    }
    this.#faults.report(found);
  }

  /** Refuses to read files that were replaced: a key that was revoked in the new files can be active in the old ones. */
  assertReadable(): void {
    const now = performance.now();
    if (now - this.#checkedAt >= INTERVAL) {
      this.#checkedAt = now;
      this.apply({ file: failureIn(() => assertSameFiles(this.files)) });
    }
    const fault = this.#faults.of('file');
    if (fault !== undefined) throw fault;
  }

  /** Translates the error of a read. When the storage is at fault, each readiness check repeats the read. */
  readFailed(error: unknown, repeat: () => unknown): AnimalStoreError {
    const known = storageError(error);
    if (known instanceof StorageFault && known !== this.#faults.of('file')) {
      this.#repeatRead = repeat;
      this.apply({ read: failureOf(error) });
    }
    return known;
  }

  async check(probe: () => Promise<void>): Promise<void> {
    await this.#faults.check(() => {
      this.repeatFailedRead();
      return atMost(PROBE_TIMEOUT, probe());
    });
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
  #mustStay(part: Part, failure: Failure | null): boolean {
    const known = part === 'write' ? this.#faults.of(part)?.reason : undefined;
    return known === 'sync_failed' || (known === 'damaged' && failure === null);
  }
}
