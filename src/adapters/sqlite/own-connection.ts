/** Transactions that wait for more than the disk: in the writer thread, all other writes would wait for them. */

import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import { openWriter } from './database.ts';
import { errorFrom, failedCommit, isLocked, storageError } from './errors.ts';
import { assertSameFiles } from './files.ts';
import type { Writer } from './writer.ts';

/** In milliseconds. */
const LOCK_TIMEOUT = 5000;
const RETRY_INTERVAL = 5;

/** Rejects with an error of `work` unchanged, unless it is an error of SQLite. */
export async function withOwnConnection<T>(
  writer: Writer,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  let db: Database.Database | undefined;
  try {
    writer.assertOpen();
    db = openWriter(writer.files);
    return await work(new OwnConnection(db, writer));
  } catch (error) {
    const known = storageError(error);
    // Other errors can be those of a temporary table, which can be on another disk.
    if (storageFaultReason(known) === 'sync_failed') writer.faults.reportFailure('writes', known);
    throw codeOf(error).startsWith('SQLITE_') ? known : error;
  } finally {
    // SQLite rolls back a transaction whose connection is closed.
    db?.close();
  }
}

export class OwnConnection {
  readonly db: Database.Database;
  readonly #writer: Writer;
  #startedAt = 0;

  constructor(db: Database.Database, writer: Writer) {
    this.db = db;
    this.#writer = writer;
  }

  /** Begins a transaction. Waits for the lock without blocking the event loop, because this process can hold the lock. */
  async begin(): Promise<void> {
    this.#startedAt = performance.now();
    this.db.pragma('busy_timeout = 0');
    while (!this.db.inTransaction) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
      } catch (error) {
        if (!isLocked(error) || performance.now() >= this.#startedAt + LOCK_TIMEOUT) throw error;
        await delay(RETRY_INTERVAL);
      }
    }
  }

  /** Throws when the storage is closed or must not be written, or when another file is at its path. */
  assertWritable(): void {
    this.#writer.assertOpen();
    assertSameFiles(this.#writer.files);
  }

  commit(writes: number): void {
    this.assertWritable();
    try {
      this.db.exec('COMMIT');
    } catch (error) {
      throw errorFrom(failedCommit(error));
    }
    this.#writer.onCommit({ writes, ms: performance.now() - this.#startedAt });
  }
}
