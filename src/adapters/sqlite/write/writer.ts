import { Gathering } from '../../../application/gathering.ts';
import type { Commit } from '../../../application/ports/observer.ts';
import type { StorageStatistics } from '../../../application/ports/statistics.ts';
import { closedError } from '../../../application/ports/storage.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import { LOCK_TIMEOUT } from '../database.ts';
import { unavailable } from '../errors.ts';
import { errorOf, LOCKED, NOT_RESPONDING } from '../health/findings.ts';
import type { Health } from '../health/health.ts';
import { BATCH_LIMIT, type Outcome, UNKNOWN } from './batch.ts';
import { packWrites, type Reply, unpackOutcomes } from './codec.ts';
import type { Statement, Written } from './statement.ts';
import { newWriteQueue, type QueuedWrite, type WriteQueue } from './write-queue.ts';
import { WriterHandle } from './writer-handle.ts';
import type { WriterSharing } from './writer-sharing.ts';

/**
 * The writes that were sent to the writer thread, to be stored in one transaction. When the writer thread does not reply
 * in time, the batch is given up: the promises of its writes reject, but the writer thread may still commit the writes.
 */
interface Batch {
  readonly writes: readonly QueuedWrite[];
  readonly startedAt: number;
  isGivenUp: boolean;
}

/**
 * Stores writes with group commit: one transaction, and so one fsync, stores many writes. Writes that arrive during a
 * commit are queued. The next transaction stores up to {@link BATCH_LIMIT} queued writes. The promise of a write
 * resolves or rejects after the commit. When the writer thread has exited, the next write starts another writer thread.
 */
export class Writer {
  readonly health: Health;
  readonly onCommit: (commit: Commit) => void;
  readonly #batchLimit: number;
  readonly #queue: WriteQueue;
  readonly #gathering: Gathering;
  readonly #thread: WriterHandle;
  #batch: Batch | undefined;
  /** Whether another process held the lock of the database when the last batch was to be stored. */
  #isLocked = false;
  #probe: PromiseWithResolvers<void> | undefined;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  /**
   * @param onCommit called after a commit, before the callers of the committed writes continue
   * @param sharing set if several threads share the writer thread; only one of them is notified of a commit
   */
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
      onLost: (cause) => this.#lost(cause),
    });
  }

  /** Starts the writer thread in advance, so that the first write does not wait for the start. */
  start(): void {
    this.#thread.start();
  }

  /**
   * Stores the statements of one write. Resolves with the effect of the last statement when the write is durable. Rejects
   * with `overloaded` when the write queue is full. When the commit has not begun within 5 seconds, the promise rejects
   * with `storage_unavailable`, and the write is never stored. When the commit takes longer than 10 seconds, the promise
   * rejects with the same code, and it is unknown whether the write was stored.
   */
  storeWrite(...write: Statement[]): Promise<Written> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    const written = this.#queue.addCall(write);
    if (this.#batch === undefined) this.#gathering.added();
    return written;
  }

  /**
   * Makes the writer thread test whether the storage can be read. After a failed write, the writer thread also tests
   * whether the storage can be written. After a failed fsync, it does not test this, because all writes are refused
   * until a restart. Resolves when `Health` has received the result, or when the disk does not respond. Concurrent
   * calls share one test.
   */
  probe(): Promise<void> {
    if (this.#closed !== undefined) return Promise.resolve();
    if (this.#probe === undefined) {
      this.#probe = Promise.withResolvers();
      this.#thread.post({ tryWrite: this.health.isFaulty('write') && this.health.syncFault === undefined });
    }
    return this.#probe.promise;
  }

  /** The number of queued writes, and how long the writer thread was busy since its start, in seconds. */
  get statistics(): Required<Pick<StorageStatistics, 'waitingWrites' | 'busySeconds'>> {
    return { waitingWrites: this.#queue.length, busySeconds: { writer: this.#thread.busySeconds } };
  }

  /** Throws when `close` has been called. */
  assertOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }

  /**
   * Commits the accepted writes, and then stops the writer thread. Resolves within 20 seconds even when the disk does
   * not respond.
   */
  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => {
      this.#queue.rejectCalls(closedError());
      this.#endProbe();
      return this.#thread.stop();
    });
    return this.#closed;
  }

  /**
   * Sends the next batch of queued writes to the writer thread. Does nothing while the writer thread is working on a
   * batch. A batch that waits too long for a lock of another process returns to the queue.
   */
  #commitNext(): void {
    this.#gathering.end();
    if (this.#batch !== undefined) return;
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
      writes: packWrites(writes.map(({ item }) => item)),
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
      else this.#settle(batch, unpackOutcomes(reply.outcomes), reply.transaction);
    }
    this.health.apply({ ...reply.findings, thread: null });
    if (batch === undefined) return;
    if (this.#isLocked) this.#commitNext();
    else this.#gathering.committed(batch.writes.length, performance.now() - batch.startedAt);
  }

  /** Settles the promises of the writes. */
  #settle({ writes }: Batch, outcomes: readonly Outcome[], transaction: Commit | undefined): void {
    for (const [index, outcome] of outcomes.entries()) {
      if ('changes' in outcome) writes[index]?.resolve(outcome);
      else writes[index]?.reject(errorOf(outcome));
    }
    if (transaction !== undefined) this.onCommit(transaction);
  }

  /** Called when queued writes were rejected at their deadline. A long lock is a fault until a write succeeds. */
  #refusedLate(): void {
    if (this.#isLocked) this.health.apply({ write: LOCKED });
  }

  /**
   * Called when the writer thread does not reply in time. Rejects the writes that were sent to the writer thread. The
   * thread is not terminated, because it is waiting for a system call, and a system call cannot be cancelled.
   */
  #giveUp(): void {
    this.health.apply({ thread: NOT_RESPONDING });
    this.#probe?.resolve();
    if (this.#batch === undefined) return;
    this.#batch.isGivenUp = true;
    rejectWrites(this.#batch.writes, unavailable(NOT_RESPONDING.message + UNKNOWN));
    this.#whenIdle?.();
  }

  #lost(cause: unknown): void {
    const { writes } = this.#batch ?? { writes: [] };
    this.#batch = undefined;
    this.#endProbe();
    this.health.apply({ thread: null });
    rejectWrites(writes, unavailable(`the writer thread exited${UNKNOWN}`, cause));
    this.#commitNext();
  }

  #endProbe(): void {
    this.#probe?.resolve();
    this.#probe = undefined;
  }

  /**
   * Resolves when every accepted write was committed or rejected. Resolves early when the writer thread does not reply
   * in time, because no more writes can be committed.
   */
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
