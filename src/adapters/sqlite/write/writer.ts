import type { Commit } from '../../../application/ports/observer.ts';
import type { StorageStatistics } from '../../../application/ports/statistics.ts';
import { closedError } from '../../../application/ports/storage.ts';
import { storageUnavailable } from '../../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import { Gathering } from '../../storage-kit/gathering.ts';
import { LOCK_TIMEOUT } from '../database.ts';
import { errorOf, LOCKED, NOT_RESPONDING, NOT_STARTED } from '../health/findings.ts';
import type { Health } from '../health/health.ts';
import { BATCH_LIMIT, UNKNOWN } from './batch.ts';
import type { Outcome, Reply, Statement, Written } from './protocol.ts';
import { newWriteQueue, type QueuedWrite, type WriteQueue } from './write-queue.ts';
import { WriterHandle } from './writer-handle.ts';
import type { WriterSharing } from './writer-sharing.ts';

interface Batch {
  readonly writes: readonly QueuedWrite[];
  readonly startedAt: number;
  /** Whether the promises of the writes were rejected. The writer thread may still commit the writes. */
  isGivenUp: boolean;
}

/** Group commit: writes that arrive during a commit are queued, and share the next transaction and its fsync. */
export class Writer {
  readonly health: Health;
  readonly onCommit: (commit: Commit) => void;
  readonly #batchLimit: number;
  readonly #queue: WriteQueue;
  readonly #gathering: Gathering;
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
    this.#queue = newWriteQueue(() => this.#refusedLate(), threads);
    this.#gathering = new Gathering(
      this.#batchLimit,
      () => this.#queue.length,
      () => this.#commitNext(),
    );
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
  storeWrite(...write: Statement[]): Promise<Written> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    const written = this.#queue.addCall(write);
    if (this.#batch === undefined) this.#gathering.added();
    return written;
  }

  /** Tests reading, and after a failed write also writing. Resolves when `Health` has the result, or after a timeout. */
  probe(): Promise<void> {
    if (this.#closed !== undefined) return Promise.resolve();
    if (this.#probe === undefined) {
      this.#probe = Promise.withResolvers();
      this.#thread.post({ tryWrite: this.health.isFaulty('write') && this.health.syncFault === undefined });
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
    this.#gathering.end();
    const { syncFault } = this.health;
    if (syncFault !== undefined) this.#queue.rejectCalls(syncFault);
    const writes = this.#queue.takeCalls(this.#batchLimit);
    const [oldest] = writes;
    if (oldest === undefined) {
      this.#whenIdle?.();
      return;
    }
    const startedAt = performance.now();
    const left = Math.max(0, Math.floor(oldest.deadline - startedAt));
    this.#batch = { writes, startedAt, isGivenUp: false };
    this.#thread.post({
      writes: writes.map(({ item }) => item),
      lockTimeout: Math.min(LOCK_TIMEOUT, left),
    });
  }

  #receive(reply: Reply): void {
    const batch = 'outcomes' in reply ? this.#batch : undefined;
    if (!('outcomes' in reply)) this.#endProbe();
    else if (batch !== undefined) {
      this.#batch = undefined;
      this.#isLocked = reply.outcomes.length === 0;
      if (this.#isLocked && !batch.isGivenUp) this.#queue.putBackCalls(batch.writes);
      else this.#settle(batch, reply.outcomes, reply.transaction);
    }
    this.health.apply({ ...reply.findings, thread: null });
    if (batch === undefined) return;
    if (this.#isLocked) this.#commitNext();
    else this.#gathering.committed(batch.writes.length, performance.now() - batch.startedAt);
  }

  #settle({ writes }: Batch, outcomes: readonly Outcome[], transaction: Commit | undefined): void {
    for (const [index, outcome] of outcomes.entries()) {
      if ('changes' in outcome) writes[index]?.resolve(outcome);
      else writes[index]?.reject(errorOf(outcome));
    }
    if (transaction !== undefined) this.onCommit(transaction);
  }

  /** A lock that made writes miss their deadline is a fault until a write succeeds. */
  #refusedLate(): void {
    if (this.#isLocked) this.health.apply({ write: LOCKED });
  }

  /** The thread is not terminated, because it is waiting for a system call, which cannot be cancelled. */
  #giveUp(): void {
    this.health.apply({ thread: NOT_RESPONDING });
    this.#probe?.resolve();
    if (this.#batch === undefined) return;
    this.#batch.isGivenUp = true;
    rejectWrites(this.#batch.writes, storageUnavailable(NOT_RESPONDING.message + UNKNOWN));
    this.#whenIdle?.();
  }

  #lost(cause: unknown, hasStarted: boolean): void {
    const { writes } = this.#batch ?? { writes: [] };
    this.#batch = undefined;
    this.#endProbe();
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    const failure = hasStarted ? null : { ...NOT_STARTED, message: `${NOT_STARTED.message}${reason}` };
    this.health.apply({ thread: failure });
    const message = failure === null ? `the writer thread exited${UNKNOWN}` : failure.message;
    rejectWrites(writes, storageUnavailable(message, cause));
    this.#commitNext();
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

function rejectWrites(writes: readonly QueuedWrite[], error: AnimalStoreError): void {
  for (const { reject } of writes) reject(error);
}
