/** The reads of a store, on one connection. */

import type Database from 'better-sqlite3';
import { idsExhausted } from '../../application/ids-left.ts';
import { closedError } from '../../application/ports/storage.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { afterThisTurn } from '../storage-kit/timers.ts';
import { storageError } from './errors.ts';
import type { StoreFaults } from './faults.ts';
import { LAST_ID, READ_TEST } from './schema.ts';

interface QueuedRead {
  run(): void;
  reject(error: AnimalStoreError): void;
}

/**
 * The reads that are requested in an iteration of the event loop run at its end in one transaction, so that SQLite acquires
 * its locks only once. No transaction stays open longer: a write that is acknowledged must be visible to later reads.
 */
export class Reads {
  readonly #db: Database.Database;
  readonly #faults: StoreFaults;
  readonly #begin: Database.Statement;
  readonly #end: Database.Statement;
  readonly #dataVersion: Database.Statement;
  readonly #readTest: Database.Statement;
  readonly #lastId: Database.Statement;
  #version: unknown;
  #queue: QueuedRead[] = [];
  #failedRead: (() => unknown) | undefined;
  #isClosed = false;

  constructor(db: Database.Database, faults: StoreFaults) {
    this.#db = db;
    this.#faults = faults;
    this.#begin = db.prepare('BEGIN');
    this.#end = db.prepare('ROLLBACK');
    this.#dataVersion = db.prepare('PRAGMA data_version').pluck().safeIntegers(false);
    this.#readTest = db.prepare(READ_TEST);
    this.#lastId = db.prepare(LAST_ID).pluck();
  }

  /** The version of the data that the running read sees. While it stays the same, no process has written anything. */
  get version(): unknown {
    return this.#version;
  }

  /** Queues a read for the end of this iteration of the event loop. */
  read<T>(read: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(read());
        } catch (error) {
          reject(this.#readFailed(error, read));
        }
      };
      if (this.#queue.push({ run, reject }) === 1) afterThisTurn(this.#runAll);
    });
  }

  /** Tests whether the file can be read, repeats a read that failed, and looks whether ids are left. Never rejects. */
  async test(): Promise<void> {
    await this.read(this.#test).catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
  }

  readonly #runAll = (): void => {
    const reads = this.#queue;
    this.#queue = [];
    for (const { run, reject } of reads) {
      try {
        // After some errors, SQLite has ended the transaction.
        if (!this.#db.inTransaction) this.#beginTransaction();
        run();
      } catch (error) {
        reject(this.#readFailed(error, this.#test));
      }
    }
    // COMMIT would fail on a damaged file.
    if (this.#db.inTransaction) this.#end.run();
  };

  /** BEGIN acquires no lock, so reading the version is the first step that can fail. */
  #beginTransaction(): void {
    if (this.#isClosed) throw closedError();
    const fault = this.#faults.of('files');
    if (fault !== undefined) throw fault;
    this.#begin.run();
    try {
      this.#version = this.#dataVersion.get();
    } catch (error) {
      this.#end.run();
      throw error;
    }
  }

  /** The page cache of the connection can be read even when the disk fails, so it is emptied first. */
  readonly #test = (): void => {
    this.#db.pragma('shrink_memory');
    this.#readTest.get();
    this.#failedRead?.();
    this.#failedRead = undefined;
    this.#faults.reportSuccess('reads');
    if (this.#lastId.get() === INT64_MAX) this.#faults.reportFailure('ids', idsExhausted());
    else this.#faults.reportSuccess('ids');
  };

  #readFailed(error: unknown, read: () => unknown): AnimalStoreError {
    const known = storageError(error);
    if (known instanceof StorageFault && known !== this.#faults.of('files')) {
      if (read !== this.#test) this.#failedRead = read;
      this.#faults.reportFailure('reads', known);
    }
    return known;
  }
}
