import type Database from 'better-sqlite3';
import { closedError } from '../../application/ports/storage.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { afterThisTurn } from '../storage-kit/timers.ts';
import type { Health } from './health.ts';
import { causeOf } from './inspection.ts';

/**
 * One read transaction for all reads in an iteration of the event loop, so that SQLite acquires its locks only once. The
 * reads run one after another at its end, because the code and the data of SQLite then stay in the caches of the
 * processor. The transaction ends before the promise of a write of any thread resolves, so that later reads return it.
 */
export class ReadSnapshot {
  readonly #db: Database.Database;
  readonly #health: Health;
  readonly #begin: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #dataVersion: Database.Statement;
  readonly #commits: Int32Array<SharedArrayBuffer> | undefined;
  #version: unknown;
  /** Before the read transaction began. */
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

  /** Returns the version of the data. As long as it is the same, data that was read before is up to date. */
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

  /** Queues a read for the end of this iteration of the event loop. Rejects when the snapshot is closed by then. */
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

  /** COMMIT would fail on a damaged file. After some errors, SQLite has already rolled back. */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#db.inTransaction) this.#rollback.run();
  }

  close(): void {
    this.leave();
    this.#isClosed = true;
  }

  /** Whether another thread may have acknowledged a write since the read transaction began. */
  get #isOutdated(): boolean {
    return this.#commits !== undefined && Atomics.load(this.#commits, 0) !== this.#commitsSeen;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    afterThisTurn(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    const reads = this.#queue;
    this.#queue = [];
    if (this.#isOutdated) this.leave();
    for (const runRead of reads) runRead();
    this.leave();
    this.#isScheduled = false;
  };

  /** BEGIN acquires no lock, so reading the version is the first step that can fail. */
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
