import type Database from 'better-sqlite3';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { closedError } from './errors.ts';
import type { Health } from './health.ts';

/**
 * One read transaction for all reads in the same iteration of the event loop. All these reads return the same state of
 * the data, and SQLite acquires its locks only once. The transaction ends at the end of the iteration, or earlier when
 * this process commits a write. It ends before the promise of the write resolves, so that every later read returns the
 * written data.
 */
export class ReadSnapshot {
  readonly #db: Database.Database;
  readonly #health: Health;
  readonly #begin: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #dataVersion: Database.Statement;
  #version: unknown;
  #isOpen = false;

  constructor(db: Database.Database, health: Health) {
    this.#db = db;
    this.#health = health;
    this.#begin = db.prepare('BEGIN');
    this.#rollback = db.prepare('ROLLBACK');
    this.#dataVersion = db.prepare('PRAGMA data_version').pluck().safeIntegers(false);
  }

  /**
   * Begins the read transaction unless it is open, and returns the version of the data. As long as the version is the
   * same, data that was read before is up to date.
   */
  enter(): unknown {
    if (!this.#isOpen) this.#open();
    return this.#version;
  }

  /** Calls `read` in the read transaction, and returns its result. */
  read<T>(read: () => T): T {
    try {
      this.enter();
      return read();
    } catch (error) {
      throw this.readFailed(error, read);
    }
  }

  /**
   * Translates the SQLite error of a failed read. When the storage is at fault, each readiness check repeats the read,
   * until the read succeeds.
   */
  readFailed(error: unknown, read: () => unknown): AnimalStoreError {
    return this.#health.readFailed(error, () => {
      this.enter();
      // The page cache of the connection can contain damaged pages, so the cache is emptied before the read.
      this.#db.pragma('shrink_memory');
      read();
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

  /**
   * Begins the read transaction and reads the version of the data. BEGIN acquires no lock, so reading the version is
   * the first step that can fail. When it fails, the read transaction is ended.
   */
  #open(): void {
    if (!this.#db.open) throw closedError();
    this.#health.assertReadable();
    this.#begin.run();
    this.#isOpen = true;
    try {
      this.#version = this.#dataVersion.get();
    } catch (error) {
      this.leave();
      throw error;
    }
    setImmediate(() => this.leave());
  }
}
