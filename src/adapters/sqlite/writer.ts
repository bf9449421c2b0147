/** Queues writes, and sends them in batches to the writer thread, which commits them. */

import type { Worker } from 'node:worker_threads';
import { afterThisTurn } from '../../application/pause.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { StorageStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import {
  StorageFault,
  storageFaultReason,
  storageUnavailable,
} from '../../application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { errorFrom, UNKNOWN } from './errors.ts';
import { checkFiles, type Faults, reportFault, syncFaultOf } from './faults.ts';
import type { StoreFiles } from './files.ts';
import type { Reads } from './reads.ts';
import { endThread, settled, startThread } from './threads.ts';
import type { Batch, Reply, SqlStatement, Write, Written } from './writer-thread.ts';

/** All writes of a batch wait for its commit, so a larger batch would delay the responses to all its writes. */
const BATCH_LIMIT = 1000;
const QUEUE_LIMIT = 10_000;
/** How long a write may be queued, and how long the thread may take for a batch, in milliseconds. */
const QUEUE_TIMEOUT = 5000;
const REPLY_TIMEOUT = 10_000;
/** The time between two checks of deadlines, files and faults, in milliseconds. */
const INTERVAL = 500;
/** Writes about as many bytes as a full batch of pets with the longest names. `END_OF_TEST` then frees the pages. */
const TEST_WRITE = `INSERT OR REPLACE INTO probe (id, data) VALUES (1, randomblob(${BATCH_LIMIT * 1024}))`;
const END_OF_TEST = 'DELETE FROM probe';

interface QueuedWrite {
  readonly write: Write;
  /** As a value of `performance.now()`. */
  readonly deadline: number;
  resolve(written: Written): void;
  reject(error: AnimalStoreError): void;
}

/** Group commit: writes that arrive during a commit are queued, and share the next transaction and its fsync. */
export class Writer {
  readonly files: StoreFiles;
  readonly #reads: Reads;
  readonly faults: Faults;
  readonly observer: Observer;
  #queue: QueuedWrite[] = [];
  /** The writes that the thread is committing, even if they were rejected because the disk does not respond. */
  #batch: readonly QueuedWrite[] | undefined;
  #sentAt = 0;
  /** A failed batch whose fault may affect only one page. The fault lasts until a test of these writes succeeds. */
  #failed: readonly QueuedWrite[] = [];
  /** Whether a test must run right after the batch in flight, because constant writes leave no idle time for it. */
  #isTestDue = false;
  #thread: Worker | undefined;
  readonly #interval: NodeJS.Timeout = setInterval(() => this.#look(), INTERVAL).unref();
  readonly #isReadOnly: boolean;
  readonly #work = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  /** @param observer is notified of a commit before the callers of the committed writes continue */
  constructor(files: StoreFiles, reads: Reads, observer: Observer, isReadOnly: boolean) {
    this.files = files;
    this.faults = reads.faults;
    this.observer = observer;
    this.#reads = reads;
    this.#isReadOnly = isReadOnly;
  }

  get statistics(): Pick<StorageStatistics, 'waitingWrites' | 'busySeconds'> {
    // Bun warns, with a stack trace, when the busy time of a thread is read.
    const thread = process.versions['bun'] === undefined ? this.#thread : undefined;
    const busy = thread?.performance.eventLoopUtilization().active ?? 0;
    return { waitingWrites: this.#queue.length, busySeconds: { writer: busy / 1000 } };
  }

  /** {@link close} waits for this work, which must end when {@link Reads.closing} is aborted. */
  async finish<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    return await work.finally(() => this.#work.delete(work));
  }

  /** Throws when the storage is closed or read-only, and after a failed fsync. */
  assertOpen(): void {
    this.#reads.closing.throwIfAborted();
    if (this.#isReadOnly) throw storageUnavailable('the store was opened for reading only');
    const fault = syncFaultOf(this.faults);
    if (fault !== undefined) throw fault;
  }

  /** A rejected write was not stored, unless the message of the error says that this is unknown. */
  storeWrite(...write: SqlStatement[]): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.assertOpen();
      if (this.#queue.length >= QUEUE_LIMIT)
        throw new AnimalStoreError('overloaded', 'too many writes are queued for the disk');
      const count = this.#queue.push({ write, deadline: performance.now() + QUEUE_TIMEOUT, resolve, reject });
      // The writes that are requested in one iteration of the event loop share a commit.
      if (count === 1) afterThisTurn(() => this.#commitNext());
    });
  }

  /** A starting thread keeps the process alive, because the SQLite driver would abort a process that exits during the start. */
  start(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = startThread('writer-thread', this.files);
    thread.on('message', (reply: Reply | 'ready') => {
      if (this.#thread !== thread) return;
      if (reply !== 'ready') this.#endBatch(reply);
      if (this.#batch === undefined) thread.unref();
    });
    thread.on('error', (cause) => this.#lost(thread, cause));
    thread.on('exit', () => this.#lost(thread));
    this.#thread = thread;
    return thread;
  }

  /** Commits the accepted writes first, unless the disk does not respond. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const ended = settled(Promise.allSettled(this.#work));
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      this.#commitNext();
    });
    clearInterval(this.#interval);
    rejectAll(this.#queue.splice(0), closedError());
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread !== undefined) await endThread(thread);
    await ended;
  }

  #commitNext(): void {
    if (this.#batch !== undefined) return;
    const fault = syncFaultOf(this.faults);
    if (fault !== undefined) rejectAll(this.#queue.splice(0), fault);
    this.#rejectLate();
    if (this.#queue.length > 0) this.#send(this.#queue.splice(0, BATCH_LIMIT));
    else this.#whenIdle?.();
  }

  #send(batch: readonly QueuedWrite[]): void {
    try {
      const thread = this.start();
      const now = performance.now();
      const lockTimeout = Math.max(0, Math.ceil((batch[0]?.deadline ?? 0) - now));
      thread.postMessage({ writes: batch.map(({ write }) => write), lockTimeout } satisfies Batch);
      thread.ref();
      // Set last, because a batch that cannot be sent gets no reply.
      this.#batch = batch;
      this.#sentAt = now;
    } catch (error) {
      rejectAll(batch, error as AnimalStoreError);
      this.#commitNext();
    }
  }

  #endBatch({ outcomes, ms }: Reply): void {
    const batch = this.#batch ?? [];
    this.#batch = undefined;
    const results = outcomes.map((outcome) => ('code' in outcome ? errorFrom(outcome) : outcome));
    const stored = results.filter((result) => 'changes' in result);
    for (const result of results) if ('code' in result) reportFault(this.faults, 'writes', result);
    if (stored.length < results.length) {
      // Damage or an I/O error may affect only a single page of the file, which `TEST_WRITE` does not read.
      const isOfPage = /damaged|io_error/.test(this.faults.of('writes')?.reason ?? '');
      if (isOfPage && this.#failed.length === 0) this.#failed = batch;
    } else if (stored.some(({ changes }) => changes > 0)) {
      this.faults.reportSuccess('files');
      if (this.#failed.length === 0) this.faults.reportSuccess('writes');
    }
    if (stored.length > 0) this.observer.onCommit?.({ writes: stored.length, ms });
    for (const [index, result] of results.entries()) {
      if ('changes' in result) batch[index]?.resolve(result);
      else batch[index]?.reject(result);
    }
    if (this.#isTestDue) void this.#test().catch(() => {});
    this.#commitNext();
  }

  /** Rejects writes that take too long, and tests whether reading and writing work again after a failure. */
  #look(): void {
    checkFiles(this.faults, this.files);
    if (this.faults.of('reads') !== undefined) void this.#reads.test();
    this.#rejectLate();
    if (this.#batch !== undefined) {
      this.#isTestDue = this.#failed.length > 0;
      if (performance.now() - this.#sentAt >= REPLY_TIMEOUT) this.#giveUp(this.#batch);
    } else if (this.faults.of('writes') !== undefined && this.#queue.length === 0) {
      void this.#test().catch(() => {});
    }
  }

  async #test(): Promise<void> {
    this.#isTestDue = false;
    // A write that reaches ROLLBACK has succeeded, but rejects with `internal_error`, because ROLLBACK changes no row. Used-up ids
    // do not mean that a page is damaged.
    const accept = (error: AnimalStoreError) =>
      error.code === 'internal_error' ||
      storageFaultReason(error) === 'ids_exhausted' ||
      Promise.reject(error);
    // The repeated writes have a batch of their own, because a failure of the storage rejects the whole batch.
    const waiting = this.#queue.splice(0);
    const repeated = this.#failed.map(({ write }) => this.storeWrite(...write, ['ROLLBACK']).catch(accept));
    if (this.#queue.length > 0) this.#commitNext();
    this.#queue.push(...waiting);
    await Promise.all(repeated);
    this.#failed = [];
    await this.storeWrite([TEST_WRITE]);
    await this.storeWrite([END_OF_TEST]);
  }

  #rejectLate(): void {
    const now = performance.now();
    const late = this.#queue.filter(({ deadline }) => deadline <= now).length;
    if (late === 0) return;
    const error = storageUnavailable('the database was busy for 5 seconds: nothing was stored');
    rejectAll(this.#queue.splice(0, late), error);
  }

  /** The thread is not terminated, because it is waiting for a system call, which cannot be cancelled. */
  #giveUp(batch: readonly QueuedWrite[]): void {
    reportFault(this.faults, 'writes', new StorageFault('not_responding', 'the disk does not respond'));
    rejectAll(batch, storageUnavailable(`the disk does not respond${UNKNOWN}`));
    this.#whenIdle?.();
  }

  /** The thread has exited without a call of `close`. The next batch starts a new thread. */
  #lost(thread: Worker, cause?: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const error = new StorageFault('not_responding', `the writer thread exited${UNKNOWN}`, { cause });
    reportFault(this.faults, 'writes', error);
    rejectAll(this.#batch ?? [], error);
    this.#batch = undefined;
    this.#commitNext();
  }
}

function rejectAll(writes: readonly QueuedWrite[], error: AnimalStoreError): void {
  for (const { reject } of writes) reject(error);
}
