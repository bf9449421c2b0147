import type Database from 'better-sqlite3';

/**
 * One read transaction for all reads of a turn of the event loop: they see the same moment, and SQLite takes its locks
 * once. Safe, because every turn begins with a new one, and a commit of our own ends the current one before its caller
 * learns of it.
 */
export class ReadSnapshot {
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #dataVersion: Database.Statement;
  #version: unknown;
  #isOpen = false;

  constructor(db: Database.Database) {
    this.#begin = db.prepare('BEGIN');
    this.#commit = db.prepare('COMMIT');
    this.#dataVersion = db.prepare('PRAGMA data_version').pluck().safeIntegers(false);
  }

  /** Sees to it that a snapshot is open. What was read under the same version still stands, whoever has written. */
  enter(): unknown {
    if (!this.#isOpen) {
      this.#begin.run();
      this.#isOpen = true;
      this.#version = this.#dataVersion.get();
      setImmediate(() => this.leave());
    }
    return this.#version;
  }

  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#commit.run();
  }
}
