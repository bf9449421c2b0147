import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { waitAtMost } from '../../application/wait-at-most.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { KnownFaults } from '../storage-kit/known-faults.ts';
import { errorFrom, storageError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';
import type { Outcome, ProbeReply } from './write/protocol.ts';

/** Between two checks of the files before reads, in milliseconds. */
const INTERVAL = 500;

/** In milliseconds: a slow disk must not delay a readiness check. `WriterHandle` detects a disk that hangs. */
const PROBE_TIMEOUT = 1000;

/** The parts of a store, the most important one first. */
const PARTS = ['files', 'probe', 'write', 'read', 'thread'] as const;
type Part = (typeof PARTS)[number];

/**
 * The state of a store. Each part works or has a fault:
 *
 * - `files`: the path of a file has no file, or another one, until the open one is back. Nothing is read or written.
 * - `probe`: a test of the storage failed, until a test succeeds.
 * - `write`: a write failed, until one succeeds; after a failed fsync, or in a damaged file, until a restart.
 * - `read`: a read failed, until the same read succeeds, which each test repeats.
 * - `thread`: the writer thread does not reply, until it replies.
 */
export class Health {
  readonly files: StoreFiles;
  readonly #faults: KnownFaults<Part>;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #failedRead: (() => unknown) | undefined;

  constructor(files: StoreFiles, observer: Observer) {
    this.files = files;
    this.#faults = new KnownFaults(PARTS, observer);
  }

  /** After a failed fsync, data can be lost although the next fsync succeeds, so nothing is written any more. */
  get syncFault(): StorageFault | undefined {
    const fault = this.#faults.of('write');
    return fault?.reason === 'sync_failed' ? fault : undefined;
  }

  get needsTestWrite(): boolean {
    return this.syncFault === undefined && this.#faults.of('write') !== undefined;
  }

  reportFailure(part: Part, error: AnimalStoreError): void {
    const isOfFiles = error instanceof StorageFault && error.reason.startsWith('file_');
    if (isOfFiles) this.#faults.reportFailure('files', error);
    else if (part !== 'write' || this.syncFault === undefined) this.#faults.reportFailure(part, error);
  }

  reportSuccess(part: Part): void {
    const reason = part === 'write' ? this.#faults.of('write')?.reason : undefined;
    if (reason !== 'sync_failed' && reason !== 'damaged') this.#faults.reportSuccess(part);
  }

  /** A write that changed nothing wrote nothing to the disk. */
  reportWrites(outcomes: readonly Outcome[]): void {
    const failure = outcomes.find((outcome) => 'code' in outcome && outcome.reason !== undefined);
    if (failure !== undefined && 'code' in failure) this.reportFailure('write', errorFrom(failure));
    else if (outcomes.some((outcome) => 'changes' in outcome && outcome.changes > 0)) {
      this.reportSuccess('files');
      this.reportSuccess('write');
    }
  }

  reportProbe({ failure, testWrites }: ProbeReply): void {
    if (failure === undefined) {
      this.reportSuccess('files');
      this.reportSuccess('probe');
    } else this.reportFailure('probe', errorFrom(failure));
    this.reportWrites(testWrites);
  }

  /** Refuses to read files that were replaced: a key that was revoked in the new files can be active in the old ones. */
  assertReadable(): void {
    const now = performance.now();
    if (now - this.#checkedAt >= INTERVAL) {
      this.#checkedAt = now;
      try {
        assertSameFiles(this.files);
        this.reportSuccess('files');
      } catch (error) {
        this.reportFailure('files', storageError(error));
      }
    }
    const fault = this.#faults.of('files');
    if (fault !== undefined) throw fault;
  }

  /** Translates the error of a read. When the storage is at fault, each test repeats the read. */
  readFailed(error: unknown, repeat: () => unknown): AnimalStoreError {
    const known = storageError(error);
    if (known instanceof StorageFault && known !== this.#faults.of('files')) {
      this.#failedRead = repeat;
      this.reportFailure('read', known);
    }
    return known;
  }

  async check(probe: () => Promise<void>): Promise<void> {
    await this.#faults.check(() => {
      this.#repeatFailedRead();
      return waitAtMost(PROBE_TIMEOUT, probe());
    });
  }

  #repeatFailedRead(): void {
    try {
      this.#failedRead?.();
      this.#failedRead = undefined;
      this.reportSuccess('read');
    } catch {}
  }
}
