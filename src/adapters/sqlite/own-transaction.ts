import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { Commit } from '../../application/ports/observer.ts';
import { openWriter } from './database.ts';
import { isLocked, translated } from './errors.ts';
import { failureOf } from './findings.ts';
import type { Health } from './health.ts';
import { assertSameFiles } from './store-files.ts';

/** How long to wait for the lock of another connection, and the time between two attempts, in milliseconds. */
const LOCK_TIMEOUT = 5000;
const RETRY_INTERVAL = 5;

/** The storage that a connection of its own belongs to. */
export interface Owner {
  /** Throws when the storage is closed. */
  assertOpen(): void;
  /** Called after a commit, before the promise of the caller resolves. */
  onCommit(commit: Commit): void;
}

/**
 * Opens a connection for one transaction that waits for something else than the disk. The writer thread cannot run such
 * a transaction, because all its writes would wait.
 */
export class OwnTransaction {
  readonly #path: string;
  readonly #health: Health;
  readonly #owner: Owner;

  constructor(path: string, health: Health, owner: Owner) {
    this.#path = path;
    this.#health = health;
    this.#owner = owner;
  }

  /**
   * Calls `write` in a transaction, and commits it. Rolls back when `write` rejects, or resolves with `undefined`. Until
   * then, no other connection can write. Rejects with an error of `write` unchanged.
   */
  async run<T>(write: (db: Database.Database) => Promise<T | undefined>): Promise<T | undefined> {
    this.#assertWritable();
    const db = openWriter(this.#path);
    try {
      await begin(db);
      const startedAt = performance.now();
      const result = await write(db);
      if (result === undefined) return undefined;
      this.#assertWritable();
      db.exec('COMMIT');
      assertSameFiles(this.#health.files);
      this.#owner.onCommit({ writes: 1, ms: performance.now() - startedAt });
      return result;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.reason === 'sync_failed') this.#health.apply({ write: failure });
      throw translated(error);
    } finally {
      // SQLite rolls back a transaction whose connection is closed.
      db.close();
    }
  }

  #assertWritable(): void {
    this.#owner.assertOpen();
    if (this.#health.syncFault !== undefined) throw this.#health.syncFault;
    assertSameFiles(this.#health.files);
  }
}

/** Begins a transaction. Waits for the lock without blocking the event loop, because this process can hold the lock. */
async function begin(db: Database.Database): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT;
  db.pragma('busy_timeout = 0');
  for (;;) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() >= deadline) throw error;
    }
    await delay(RETRY_INTERVAL);
  }
}
