import type Database from 'better-sqlite3';
import { closedError } from '../../application/ports/storage.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { afterThisTurn } from '../storage-kit/timers.ts';
import type { Health } from './health.ts';
import { causeOf } from './inspection.ts';

/**
 * One read transaction for all reads that are requested in an iteration of the event loop, so that SQLite acquires its locks
 * only once. They run one after another at the end of the iteration, because the code and the data of SQLite then stay in
 * the caches of the processor. No transaction stays open longer: a write that another thread or process acknowledges in the
 * same iteration must be visible to all reads that begin afterwards.
 */
export class ReadSnapshot {
  readonly #db: Database.Database;
  readonly #health: Health;
  readonly #begin: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #dataVersion: Database.Statement;
  /** The version of the data when the read transaction began, or while none is open, earlier in this iteration. */
  #version: unknown;
  #isOpen = false;
  #queue: (() => void)[] = [];
  #isScheduled = false;
  #isClosed = false;

  constructor(db: Database.Database, health: Health) {
    this.#db = db;
    this.#health = health;
    this.#begin = db.prepare('BEGIN');
    this.#rollback = db.prepare('ROLLBACK');
    this.#dataVersion = db.prepare('PRAGMA data_version').pluck().safeIntegers(false);
  }

  /** Returns the version of the data. As long as it is the same, data that was read before is up to date. */
  version(): unknown {
    if (this.#isOpen) return this.#version;
    try {
      this.#assertReadable();
      this.#version = this.#dataVersion.get();
    } catch (error) {
      throw this.#readFailed(error, () => {});
    }
    this.#schedule();
    return this.#version;
  }

  /** Returns the version that was current at some time in this iteration, which costs nothing if it is known. */
  recentVersion(): unknown {
    return this.#version ?? this.version();
  }

  /** Called for each write that this storage acknowledges, so that {@link recentVersion} is not from before it. */
  forgetVersion(): void {
    this.#version = undefined;
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

  close(): void {
    this.#leave();
    this.#isClosed = true;
  }

  /** COMMIT would fail on a damaged file. After some errors, SQLite has already rolled back. */
  #leave(): void {
    this.#version = undefined;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#db.inTransaction) this.#rollback.run();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    afterThisTurn(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    const reads = this.#queue;
    this.#queue = [];
    for (const runRead of reads) runRead();
    this.#leave();
    this.#isScheduled = false;
  };

  /** BEGIN acquires no lock, so reading the version is the first step that can fail. */
  #open(): void {
    this.#assertReadable();
    this.#begin.run();
    this.#isOpen = true;
    try {
      this.#version = this.#dataVersion.get();
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  #assertReadable(): void {
    if (this.#isClosed) throw closedError();
    this.#health.assertReadable();
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
