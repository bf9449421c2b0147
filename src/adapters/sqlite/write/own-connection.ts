import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { openWriter } from '../database.ts';
import { isLocked, storageError, translated } from '../errors.ts';
import { assertSameFiles } from '../store-files.ts';
import type { Writer } from './writer.ts';

/** In milliseconds. */
const LOCK_TIMEOUT = 5000;
const RETRY_INTERVAL = 5;

/** For transactions that wait for more than the disk: in the writer thread, all other writes would wait for them. */
export class OwnConnection {
  readonly db: Database.Database;
  readonly #writer: Writer;
  #startedAt = 0;

  constructor(db: Database.Database, writer: Writer) {
    this.db = db;
    this.#writer = writer;
  }

  /** Waits for the lock without blocking the event loop, because this process can hold the lock. */
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

  /** Throws when the storage is closed or must not be written, or when another file is at its path. */
  assertWritable(): void {
    this.#writer.assertOpen();
    const { health } = this.#writer;
    if (health.syncFault !== undefined) throw health.syncFault;
    assertSameFiles(health.files);
  }

  commit(writes: number): void {
    this.assertWritable();
    this.db.exec('COMMIT');
    this.#writer.onCommit({ writes, ms: performance.now() - this.#startedAt });
  }
}

/** Rejects with an error of `work` unchanged, unless it is an error of SQLite. */
export async function withOwnConnection<T>(
  writer: Writer,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  writer.assertOpen();
  let db: Database.Database | undefined;
  try {
    db = openWriter(writer.health.files);
    const connection = new OwnConnection(db, writer);
    connection.assertWritable();
    return await work(connection);
  } catch (error) {
    const known = storageError(error);
    // Other errors can be those of a temporary table, which can be on another disk.
    if (storageFaultReason(known) === 'sync_failed') writer.health.reportFailure('write', known);
    throw translated(error);
  } finally {
    // SQLite rolls back a transaction whose connection is closed.
    db?.close();
  }
}
