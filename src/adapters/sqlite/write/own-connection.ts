import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { Commit } from '../../../application/ports/observer.ts';
import { openWriter } from '../database.ts';
import { isLocked, translated } from '../errors.ts';
import { failureOf } from '../health/findings.ts';
import type { Health } from '../health/health.ts';
import { assertSameFiles } from '../health/store-files.ts';

/** How long to wait for the lock of another connection, and the time between two attempts, in milliseconds. */
const LOCK_TIMEOUT = 5000;
const RETRY_INTERVAL = 5;

/** The storage that a connection of its own belongs to. */
export interface Owner {
  readonly path: string;
  readonly health: Health;
  /** Throws when the storage is closed. */
  assertOpen(): void;
  /** Called after a commit, before the promise of the caller resolves. */
  onCommit(commit: Commit): void;
}

/**
 * A connection for one transaction that waits for something else than the disk, such as the pets of an import. The
 * writer thread cannot run such a transaction, because all its writes would wait.
 */
export class OwnConnection {
  readonly db: Database.Database;
  readonly #owner: Owner;
  #startedAt = 0;

  constructor(db: Database.Database, owner: Owner) {
    this.db = db;
    this.#owner = owner;
  }

  /**
   * Begins the transaction. Until its end, no other connection can write. Waits for the lock without blocking the event
   * loop, because this process can hold the lock.
   */
  async begin(): Promise<void> {
    this.#startedAt = performance.now();
    this.db.pragma('busy_timeout = 0');
    for (;;) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isLocked(error) || performance.now() >= this.#startedAt + LOCK_TIMEOUT) throw error;
      }
      await delay(RETRY_INTERVAL);
    }
  }

  /** Throws as {@link assertWritable} does. */
  assertWritable(): void {
    assertWritable(this.#owner);
  }

  /** Commits the transaction, which has stored this number of writes. */
  commit(writes: number): void {
    this.assertWritable();
    this.db.exec('COMMIT');
    assertSameFiles(this.#owner.health.files);
    this.#owner.onCommit({ writes, ms: performance.now() - this.#startedAt });
  }
}

/**
 * Opens a connection, calls `work` with it, and closes it. Rejects with an error of `work` unchanged, unless it is an
 * error of SQLite.
 */
export async function withOwnConnection<T>(
  owner: Owner,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  // The path is checked before opening, because SQLite could change or create another file at this path. It is checked
  // again after opening, because the file could have been replaced in the meantime.
  assertWritable(owner);
  const db = openWriter(owner.path);
  try {
    assertWritable(owner);
    return await work(new OwnConnection(db, owner));
  } catch (error) {
    const failure = failureOf(error);
    // Other failures can be failures of a temporary table, which can be on another disk.
    if (failure.reason === 'sync_failed') owner.health.apply({ write: failure });
    throw translated(error);
  } finally {
    // SQLite rolls back a transaction whose connection is closed.
    db.close();
  }
}

/** Throws when the storage is closed or must not be written, or when another file is at its path. */
function assertWritable({ assertOpen, health }: Owner): void {
  assertOpen();
  if (health.syncFault !== undefined) throw health.syncFault;
  assertSameFiles(health.files);
}
