import type { Commit } from '../../../application/ports/observer.ts';
import type { StorageStatistics } from '../../../application/ports/statistics.ts';
import { closedError } from '../../../application/ports/storage.ts';
import { StorageFault, storageUnavailable } from '../../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import { CallQueue, type QueuedCall } from '../../storage-kit/call-queue.ts';
import { afterThisTurn } from '../../storage-kit/timers.ts';
import { LOCK_TIMEOUT } from '../driver.ts';
import { errorFrom } from '../errors.ts';
import type { Health } from '../health.ts';
import { BATCH_LIMIT, UNKNOWN } from './batch.ts';
import type { BatchReply, Reply, SqlStatement, Write, WriterSharing, Written } from './protocol.ts';
import { WriterHandle } from './writer-handle.ts';

const QUEUE_LIMIT = 10_000;

/** How long a write may be queued, in milliseconds. */
const QUEUE_TIMEOUT = 5000;

const LOCKED = 'the database is locked by another process';
const NOT_RESPONDING = 'the disk does not respond';
const NOT_STARTED = 'nothing was stored, because the writer thread cannot start';
/** For example, a bundler has made the program without the module of the thread. */
const HINT = 'a bundled program must load the package animal-store from node_modules';

interface Batch {
  readonly writes: readonly QueuedCall<Write, Written>[];
  /** Whether the promises of the writes were rejected. The writer thread may still commit the writes. */
  isGivenUp: boolean;
}

/** Group commit: writes that arrive during a commit are queued, and share the next transaction and its fsync. */
export class Writer {
  readonly health: Health;
  readonly onCommit: (commit: Commit) => void;
  readonly #batchLimit: number;
  readonly #queue: CallQueue<Write, Written>;
  #isScheduled = false;
  readonly #thread: WriterHandle;
  #batch: Batch | undefined;
  /** Whether another process held the lock of the database at the last batch. */
  #isLocked = false;
  #probe: PromiseWithResolvers<void> | undefined;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  /** @param onCommit called before the callers of the committed writes continue, and in one of several threads only */
  constructor(health: Health, onCommit: (commit: Commit) => void, sharing?: WriterSharing) {
    const threads = sharing?.threads ?? 1;
    this.health = health;
    this.onCommit = onCommit;
    this.#batchLimit = Math.ceil(BATCH_LIMIT / threads);
    this.#queue = new CallQueue({
      timeout: QUEUE_TIMEOUT,
      full: 'too many writes are queued for the disk',
      late: `the database was busy for ${QUEUE_TIMEOUT / 1000} seconds: nothing was stored`,
      lengthLimit: Math.ceil(QUEUE_LIMIT / threads),
      onLate: () => this.#refusedLate(),
    });
    this.#thread = new WriterHandle(health.files, sharing, {
      onReply: (reply) => this.#receive(reply),
      onTimeout: () => this.#giveUp(),
      onLost: (cause, hasStarted) => this.#lost(cause, hasStarted),
    });
  }

  start(): void {
    this.#thread.start();
  }

  /** After a rejection, the write is never stored, unless the message says that this is unknown. */
  storeWrite(...write: SqlStatement[]): Promise<Written> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    const written = this.#queue.addCall(write);
    this.#schedule();
    return written;
  }

  /** Writes that are requested in one iteration of the event loop, or during a commit, share the next one. */
  #schedule(): void {
    if (this.#batch !== undefined || this.#isScheduled) return;
    this.#isScheduled = true;
    afterThisTurn(() => {
      this.#isScheduled = false;
      if (this.#batch === undefined) this.#commitNext();
    });
  }

  /** Tests reading, and after a failed write also writing. Resolves when `Health` has the result, or after a timeout. */
  probe(): Promise<void> {
    if (this.#closed !== undefined) return Promise.resolve();
    if (this.#probe === undefined) {
      this.#probe = Promise.withResolvers();
      this.#thread.post({ tryWrite: this.health.needsTestWrite });
    }
    return this.#probe.promise;
  }

  get statistics(): Required<Pick<StorageStatistics, 'waitingWrites' | 'busySeconds'>> {
    return { waitingWrites: this.#queue.length, busySeconds: { writer: this.#thread.busySeconds } };
  }

  assertOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }

  /** Commits the accepted writes first, unless the disk does not respond. */
  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => {
      this.#queue.rejectCalls(closedError());
      this.#endProbe();
      return this.#thread.stop();
    });
    return this.#closed;
  }

  #commitNext(): void {
    const { syncFault } = this.health;
    if (syncFault !== undefined) this.#queue.rejectCalls(syncFault);
    const writes = this.#queue.takeCalls(this.#batchLimit);
    const [oldest] = writes;
    if (oldest === undefined) {
      this.#whenIdle?.();
      return;
    }
    const left = Math.max(0, Math.floor(oldest.deadline - performance.now()));
    this.#batch = { writes, isGivenUp: false };
    this.#thread.post({
      writes: writes.map(({ item }) => item),
      lockTimeout: Math.min(LOCK_TIMEOUT, left),
    });
  }

  #receive(reply: Reply): void {
    this.health.reportSuccess('thread');
    if ('outcomes' in reply) this.#endBatch(reply);
    else {
      this.#endProbe();
      this.health.reportProbe(reply);
    }
  }

  #endBatch({ outcomes, transaction }: BatchReply): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#isLocked = outcomes.length === 0;
    if (this.#isLocked) {
      if (!batch.isGivenUp) this.#queue.putBackCalls(batch.writes);
      this.#commitNext();
      return;
    }
    for (const [index, outcome] of outcomes.entries()) {
      if ('changes' in outcome) batch.writes[index]?.resolve(outcome);
      else batch.writes[index]?.reject(errorFrom(outcome));
    }
    this.health.reportWrites(outcomes);
    if (transaction !== undefined) this.onCommit(transaction);
    this.#commitNext();
  }

  /** A lock that made writes miss their deadline is a fault until a write succeeds. */
  #refusedLate(): void {
    if (!this.#isLocked) return;
    const cause = 'writes were refused, because the lock was held too long';
    this.health.reportFailure('write', new StorageFault('locked', LOCKED, { cause }));
  }

  /** The thread is not terminated, because it is waiting for a system call, which cannot be cancelled. */
  #giveUp(): void {
    const cause = 'the writer thread has not replied in time';
    this.health.reportFailure('thread', new StorageFault('not_responding', NOT_RESPONDING, { cause }));
    this.#probe?.resolve();
    if (this.#batch === undefined) return;
    this.#batch.isGivenUp = true;
    this.#rejectBatch(storageUnavailable(NOT_RESPONDING + UNKNOWN));
    this.#whenIdle?.();
  }

  #lost(cause: unknown, hasStarted: boolean): void {
    this.#endProbe();
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    const error = hasStarted
      ? storageUnavailable(`the writer thread exited${UNKNOWN}`, cause)
      : new StorageFault('not_responding', NOT_STARTED + reason, { cause: HINT });
    if (hasStarted) this.health.reportSuccess('thread');
    else this.health.reportFailure('thread', error);
    this.#rejectBatch(error);
    this.#batch = undefined;
    this.#commitNext();
  }

  #rejectBatch(error: AnimalStoreError): void {
    for (const { reject } of this.#batch?.writes ?? []) reject(error);
  }

  #endProbe(): void {
    this.#probe?.resolve();
    this.#probe = undefined;
  }

  /** Resolves when every accepted write was committed or rejected, or when no more writes can be committed. */
  #drain(): Promise<void> {
    if (this.#batch?.isGivenUp || (this.#batch === undefined && this.#queue.length === 0)) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }
}
