import type Database from 'better-sqlite3';
import { afterThisTurn } from '../../application/pause.ts';
import { closedError } from '../../application/ports/storage.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { idsExhausted } from '../storage-kit/problems.ts';
import { storageError } from './errors.ts';
import { type Faults, reportFault } from './faults.ts';
import { lastIdOf, testRead } from './schema.ts';

/**
 * Collects the reads that are requested in one iteration of the event loop. At the end of the iteration, all of them run in one
 * transaction, so that SQLite acquires its locks only once. The transaction then ends, because later reads must see every
 * acknowledged write.
 */
export class Reads {
  /** The version of the data that the running read sees. While it stays the same, no process has written anything. */
  version: unknown;
  /** For statements that run within {@link read}. */
  readonly db: Database.Database;
  readonly faults: Faults;
  readonly #begin: Database.Statement;
  readonly #end: Database.Statement;
  readonly #dataVersion: Database.Statement;
  /** Whether a transaction is open in which `version` was read. `db.inTransaction` would be slower than a read from the cache. */
  #inTransaction = false;
  #queue: (() => void)[] = [];
  readonly #closing = new AbortController();
  /** Aborted by {@link close}. After that, no new call of the storage begins. */
  readonly closing: AbortSignal = this.#closing.signal;
  /** The read that has found a fault. {@link test} repeats it, because reads of other parts of the file may succeed. */
  #failed: (() => unknown) | undefined;

  constructor(db: Database.Database, faults: Faults) {
    this.db = db;
    this.faults = faults;
    this.#begin = db.prepare('BEGIN');
    // On a damaged file, COMMIT would fail, but ROLLBACK does not.
    this.#end = db.prepare('ROLLBACK');
    this.#dataVersion = db.prepare('PRAGMA data_version').pluck().safeIntegers(false);
  }

  /** Queues a read for the end of this iteration of the event loop. */
  read<T>(read: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          if (!this.#inTransaction) this.#beginTransaction();
          resolve(read());
        } catch (error) {
          // After some errors, SQLite has ended the transaction.
          this.#inTransaction &&= this.db.inTransaction;
          const known = storageError(error);
          reportFault(this.faults, 'reads', known);
          if (this.faults.of('reads') === known && read !== this.#test) this.#failed ??= read;
          reject(known);
        }
      };
      if (this.#queue.push(run) === 1) afterThisTurn(this.#runAll);
    });
  }

  /** Tests whether the file can be read, and whether unassigned ids are left. Never rejects. */
  async test(): Promise<void> {
    await this.read(this.#test).catch(() => {});
  }

  close(): void {
    this.#closing.abort(closedError());
  }

  readonly #runAll = (): void => {
    for (const run of this.#queue.splice(0)) run();
    if (this.db.inTransaction) this.#end.run();
    this.#inTransaction = false;
  };

  #beginTransaction(): void {
    this.closing.throwIfAborted();
    const fault = this.faults.of('files');
    if (fault !== undefined) throw fault;
    if (!this.db.inTransaction) this.#begin.run();
    // BEGIN acquires no lock, so this is the first step that can fail.
    this.version = this.#dataVersion.get();
    this.#inTransaction = true;
  }

  /** The page cache of the connection can be read even when the disk fails, so it is emptied first. */
  readonly #test = (): void => {
    this.db.pragma('shrink_memory');
    testRead(this.db);
    try {
      this.#failed?.();
    } catch (error) {
      // An error about the request itself, such as `idempotency_conflict`, is not a fault of the file.
      if (storageFaultReason(storageError(error)) !== undefined) throw error;
    }
    this.#failed = undefined;
    this.faults.reportSuccess('reads');
    if (lastIdOf(this.db) === INT64_MAX) this.faults.reportFailure('ids', idsExhausted());
    else this.faults.reportSuccess('ids');
  };
}
