import type Database from 'better-sqlite3';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { Health } from './health.ts';

/**
 * One read transaction for all reads of a turn of the event loop: they see the same moment, and SQLite takes its locks
 * once. Safe, because every turn begins with a new one, and a commit of our own ends the current one before its caller
 * learns of it.
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

  /** Sees to it that a snapshot is open. What was read under the same version still stands, whoever has written. */
  enter(): unknown {
    if (!this.#isOpen) this.#open();
    return this.#version;
  }

  /** What the caller of a read that failed is told. The read is repeated by readiness checks until it works again. */
  readFailed(error: unknown, read: () => unknown): AnimalStoreError {
    return this.#health.readFailed(error, () => {
      this.enter();
      this.#db.pragma('shrink_memory'); // pages that were misread are cached too
      read();
    });
  }

  /** Nothing was written, so it is rolled back: a commit fails on a damaged file. SQLite may have ended it by itself. */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#db.inTransaction) this.#rollback.run();
  }

  /** BEGIN takes no lock: it is the first read that can fail, and must not leave the transaction open for good. */
  #open(): void {
    if (!this.#db.open) throw new AnimalStoreError('storage_unavailable', 'the storage is closed');
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
