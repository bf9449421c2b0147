import type Database from 'better-sqlite3';
import { closedError } from '../../../application/ports/storage.ts';
import type { AnimalStoreError } from '../../../domain/errors.ts';
import type { Health } from '../health/health.ts';
import { causeOf } from '../inspection.ts';

/**
 * One read transaction for all reads in the same iteration of the event loop. All these reads return the same state of
 * the data, and SQLite acquires its locks only once. The reads are queued, and run one after another at the end of the
 * iteration, because the code and the data of SQLite then stay in the caches of the processor. The transaction ends
 * with the iteration, or earlier when this process commits a write. It ends before the promise of the write resolves,
 * so that every later read returns the written data. It also ends before the first read after a commit of another thread.
 */
export class ReadSnapshot {
  readonly #db: Database.Database;
  readonly #health: Health;
  readonly #begin: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #dataVersion: Database.Statement;
  readonly #commits: Int32Array<SharedArrayBuffer> | undefined;
  #version: unknown;
  /** The number of commits of all threads before the read transaction began. */
  #commitsSeen = 0;
  #isOpen = false;
  #queue: (() => void)[] = [];
  #isScheduled = false;
  #isClosed = false;

  /** @param commits the number of commits of all threads, if several threads share the writer thread */
  constructor(db: Database.Database, health: Health, commits?: Int32Array<SharedArrayBuffer>) {
    this.#db = db;
    this.#health = health;
    this.#commits = commits;
    this.#begin = db.prepare('BEGIN');
    this.#rollback = db.prepare('ROLLBACK');
    this.#dataVersion = db.prepare('PRAGMA data_version').pluck().safeIntegers(false);
  }

  /**
   * Begins the read transaction unless it is open, and returns the version of the data. As long as the version is the
   * same, data that was read before is up to date. Throws a translated error when the storage cannot be read.
   */
  enter(): unknown {
    if (this.#isOpen && !this.#isOutdated) return this.#version;
    try {
      this.leave();
      this.#open();
    } catch (error) {
      throw this.#readFailed(error, () => {});
    }
    return this.#version;
  }

  /**
   * Queues a read for the end of this iteration of the event loop, and resolves with its result. A read that fails does
   * not affect the other reads. Rejects when the snapshot is closed by then.
   */
  read<T>(read: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push(() => {
        try {
          if (!this.#isOpen) this.#open();
          resolve(read());
        } catch (error) {
          reject(this.#readFailed(error, read));
        }
      });
      this.#schedule();
    });
  }

  /**
   * Ends the read transaction. ROLLBACK is used, because COMMIT fails on a damaged file. ROLLBACK loses no data,
   * because nothing was written. After some errors, SQLite has already rolled back, and no ROLLBACK is needed.
   */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#db.inTransaction) this.#rollback.run();
  }

  /** Ends the read transaction. Queued and further reads are rejected. */
  close(): void {
    this.leave();
    this.#isClosed = true;
  }

  /** Whether another thread may have acknowledged a write since the read transaction began. */
  get #isOutdated(): boolean {
    return this.#commits !== undefined && Atomics.load(this.#commits, 0) !== this.#commitsSeen;
  }

  /** Runs `#endTurn` at the end of this iteration of the event loop. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    const reads = this.#queue;
    this.#queue = [];
    if (this.#isOutdated) this.leave();
    for (const runRead of reads) runRead();
    this.leave();
    this.#isScheduled = false;
  };

  /**
   * Begins the read transaction and reads the version of the data. BEGIN acquires no lock, so reading the version is
   * the first step that can fail. When it fails, the read transaction is ended.
   */
  #open(): void {
    if (this.#isClosed) throw closedError();
    this.#health.assertReadable();
    if (this.#commits !== undefined) this.#commitsSeen = Atomics.load(this.#commits, 0);
    this.#begin.run();
    this.#isOpen = true;
    try {
      this.#version = this.#dataVersion.get();
    } catch (error) {
      this.leave();
      throw error;
    }
    this.#schedule();
  }

  #readFailed(error: unknown, read: () => unknown): AnimalStoreError {
    return this.#health.readFailed(causeOf(error, this.#db), () => {
      if (!this.#isOpen) this.#open();
      // The page cache of the connection can contain damaged pages, so the cache is emptied before the read.
      this.#db.pragma('shrink_memory');
      read();
    });
  }
}
