import type { Observer } from '../../application/ports/observer.ts';
import type { StorageStatistics } from '../../application/ports/statistics.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { BATCH_LIMIT } from './batch.ts';
import { packWrites, type Reply } from './codec.ts';
import { closedError } from './errors.ts';
import { LOCKED, NOT_RESPONDING } from './findings.ts';
import { Gathering } from './gathering.ts';
import type { Health } from './health.ts';
import { type QueuedWrite, rejectWrites, settleWrites } from './queued-write.ts';
import type { Statement, StatementWriter, Written } from './statement-writer.ts';
import { WriteQueue } from './write-queue.ts';
import { WriterHandle } from './writer-handle.ts';

/**
 * How long a transaction may wait for a lock of another process, in milliseconds. After this time, its statements
 * return to the queue. Statements that were queued for too long are rejected.
 */
const LOCK_TIMEOUT = 100;

const UNKNOWN = 'it is unknown whether this was stored';

/**
 * The writes that were sent to the writer thread, to be stored in one transaction. A write is a list of SQL statements
 * that take effect together or not at all. When the writer thread does not reply in time, the batch is given up: the
 * promises of its writes reject, but the writer thread may still commit the writes.
 */
interface Batch {
  readonly writes: readonly QueuedWrite[];
  readonly startedAt: number;
  isGivenUp: boolean;
}

/**
 * Stores writes with group commit: one transaction, and so one fsync, stores many writes. A write is a list of SQL
 * statements that take effect together or not at all. Writes that arrive during a commit are queued. The next
 * transaction stores up to {@link BATCH_LIMIT} queued writes. The promise of a write resolves or rejects after the
 * commit. When the writer thread has exited, the next write starts another writer thread.
 */
export class Writer implements StatementWriter {
  readonly #health: Health;
  readonly #observer: Observer;
  readonly #endSnapshot: () => void;
  readonly #queue = new WriteQueue(() => this.#refusedLate());
  readonly #thread: WriterHandle;
  #batch: Batch | undefined;
  /** Whether another process held the lock of the database when the last batch was to be stored. */
  #isLocked = false;
  readonly #gathering = new Gathering(
    () => this.#queue.length,
    () => this.#commitNext(),
  );
  #probe: PromiseWithResolvers<void> | undefined;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  /**
   * @param endSnapshot ends the read transaction of `ReadSnapshot`; called after a commit, before the promises of the
   * committed writes resolve, so that later reads return the committed data
   */
  constructor(health: Health, observer: Observer, endSnapshot: () => void) {
    this.#health = health;
    this.#observer = observer;
    this.#endSnapshot = endSnapshot;
    this.#thread = new WriterHandle(health.files, {
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
   * Runs a write as {@link StatementWriter.run} describes. When the commit of the write has not begun within 5 seconds,
   * the promise rejects, and the write is never stored. When the commit takes longer than 10 seconds, the promise
   * rejects, and it is unknown whether the write was stored.
   */
  run(...write: Statement[]): Promise<Written> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    const written = this.#queue.add(write);
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
      this.#thread.post({ tryWrite: this.#health.isFaulty('write') && this.#health.syncFault === undefined });
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
      this.#queue.refuseAll(closedError());
      this.#endProbe();
      return this.#thread.stop();
    });
    return this.#closed;
  }

  /**
   * Sends the next batch of queued writes to the writer thread. Does nothing while the writer thread is working on a
   * batch.
   */
  #commitNext(): void {
    this.#gathering.end();
    if (this.#batch !== undefined) return;
    const { syncFault } = this.#health;
    if (syncFault !== undefined) this.#queue.refuseAll(syncFault);
    const writes = this.#queue.take(BATCH_LIMIT);
    const [oldest] = writes;
    if (oldest === undefined) {
      this.#thread.keepAlive(false);
      this.#whenIdle?.();
      return;
    }
    const startedAt = performance.now();
    const left = Math.max(0, Math.floor(oldest.deadline - startedAt));
    this.#batch = { writes, startedAt, isGivenUp: false };
    this.#thread.keepAlive(true);
    this.#thread.post({
      writes: packWrites(writes.map(({ write }) => write)),
      lockTimeout: Math.min(LOCK_TIMEOUT, left),
    });
  }

  #receive({ isProbe, isLocked, findings, outcomes, commitMs }: Reply): void {
    const batch = this.#batch;
    if (isProbe) this.#endProbe();
    else if (batch !== undefined) {
      this.#batch = undefined;
      this.#isLocked = isLocked;
      this.#endSnapshot();
      if (isLocked && !batch.isGivenUp) this.#queue.putBack(batch.writes);
      else {
        const writes = settleWrites(batch.writes, outcomes);
        if (commitMs !== undefined) this.#observer.onCommit?.({ writes, ms: commitMs });
      }
    }
    this.#health.apply(this.#health.isFaulty('thread') ? { ...findings, thread: null } : findings);
    if (isProbe || batch === undefined) return;
    if (isLocked) this.#commitNext();
    else this.#gathering.committed(batch.writes.length, performance.now() - batch.startedAt);
  }

  /** Called when queued writes were rejected at their deadline. A long lock is a fault until a write succeeds. */
  #refusedLate(): void {
    if (this.#isLocked) this.#health.apply({ write: LOCKED });
  }

  /**
   * Called when the writer thread does not reply in time. Rejects the writes that were sent to the writer thread. The
   * thread is not terminated, because it is waiting for a system call, and a system call cannot be cancelled.
   */
  #giveUp(): void {
    this.#health.apply({ thread: NOT_RESPONDING });
    this.#probe?.resolve();
    if (this.#batch === undefined) return;
    this.#batch.isGivenUp = true;
    rejectWrites(this.#batch.writes, unavailable(`${NOT_RESPONDING.message}: ${UNKNOWN}`));
    this.#whenIdle?.();
  }

  #lost(cause: unknown): void {
    const { writes } = this.#batch ?? { writes: [] };
    this.#batch = undefined;
    this.#endProbe();
    this.#health.apply({ thread: null });
    rejectWrites(writes, unavailable(`the writer thread exited: ${UNKNOWN}`, cause));
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

function unavailable(message: string, cause?: unknown): AnimalStoreError {
  return new AnimalStoreError('storage_unavailable', message, { cause });
}
