/** Transactions that wait for more than the disk: in the writer thread, all other writes would wait for them. */

import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { openWriter } from './database.ts';
import { errorFrom, failedCommit, isLocked, storageError, translated } from './errors.ts';
import { assertSameFiles } from './files.ts';
import type { Writer } from './writer.ts';

/** In milliseconds. */
const LOCK_TIMEOUT = 5000;
const RETRY_INTERVAL = 5;

export interface OwnConnection {
  readonly db: Database.Database;
  /** Begins a transaction. Waits for the lock without blocking the event loop, because this process can hold the lock. */
  begin(): Promise<void>;
  /** Throws when the storage is closed or must not be written, or when another file is at its path. */
  assertWritable(): void;
  commit(writes: number): void;
}

/** Rejects with an error of `work` unchanged, unless it is an error of SQLite. */
export async function withOwnConnection<T>(
  writer: Writer,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  let db: Database.Database | undefined;
  try {
    writer.assertOpen();
    db = openWriter(writer.files);
    return await work(connectionOf(db, writer));
  } catch (error) {
    const known = storageError(error);
    // Other errors can be those of a temporary table, which can be on another disk.
    if (storageFaultReason(known) === 'sync_failed') writer.faults.reportFailure('writes', known);
    throw translated(error);
  } finally {
    // SQLite rolls back a transaction whose connection is closed.
    db?.close();
  }
}

function connectionOf(db: Database.Database, writer: Writer): OwnConnection {
  let startedAt = 0;
  const assertWritable = (): void => {
    writer.assertOpen();
    assertSameFiles(writer.files);
  };
  return {
    db,
    assertWritable,
    async begin() {
      startedAt = performance.now();
      db.pragma('busy_timeout = 0');
      for (;;) {
        try {
          db.exec('BEGIN IMMEDIATE');
          return;
        } catch (error) {
          if (!isLocked(error) || performance.now() >= startedAt + LOCK_TIMEOUT) throw error;
        }
        await delay(RETRY_INTERVAL);
      }
    },
    commit(writes) {
      assertWritable();
      try {
        db.exec('COMMIT');
      } catch (error) {
        throw errorFrom(failedCommit(error));
      }
      writer.onCommit({ writes, ms: performance.now() - startedAt });
    },
  };
}
