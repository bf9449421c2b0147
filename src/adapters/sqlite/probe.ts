import type Database from 'better-sqlite3';
import { BATCH_LIMIT } from './batch.ts';
import { isLocked } from './errors.ts';
import type { FileGuard } from './file-guard.ts';
import { type Failure, type Findings, failureOf, findingsOf } from './findings.ts';
import { assertTables, READ_ENDS } from './inspection.ts';
import { assertSameFiles, assertWritable, type StoreFiles } from './store-files.ts';

/** The size of the data that a test of writing stores, in bytes: a full batch of pets with the longest names. */
const TEST_SIZE = BATCH_LIMIT * 1024;

/**
 * The transactions that test whether the database can be written. They change no row of a user. The first one writes as
 * many pages as the largest batch of writes. The second one makes these pages free for pets.
 */
const TEST_WRITES = [
  `INSERT OR REPLACE INTO probe (id, data) VALUES (1, randomblob(${TEST_SIZE}))`,
  'DELETE FROM probe',
];

/** Tests whether the storage can be read and written. */
export class Probe {
  readonly #db: Database.Database;
  readonly #files: StoreFiles;
  readonly #guard: FileGuard;

  constructor(db: Database.Database, files: StoreFiles, guard: FileGuard) {
    this.#db = db;
    this.#files = files;
    this.#guard = guard;
  }

  /**
   * @param tryWrite whether to write to the database file as a test; callers request this only after a failed
   * write
   */
  run(tryWrite: boolean): Findings {
    const file = attempt(() => assertSameFiles(this.#files));
    if (file !== null) return { file };
    const access = attempt(() => assertWritable(this.#files));
    const pages = attempt(() => this.#readEnds());
    const isWritten = tryWrite && access === null && pages === null;
    return { file, access, pages, ...(isWritten && this.#testWriting()) };
  }

  /**
   * Reads the first and the last rows from the disk. Empties the page cache of the connection first, because cached
   * pages can be read even when the disk fails.
   */
  #readEnds(): void {
    this.#guard.assertUnharmed();
    this.#db.pragma('shrink_memory');
    assertTables(this.#db);
    this.#db.prepare(READ_ENDS).get();
  }

  #testWriting(): Findings {
    try {
      for (const sql of TEST_WRITES) this.#commit(sql);
      return { write: null };
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      return findingsOf(failureOf(error));
    }
  }

  #commit(sql: string): void {
    this.#db.exec('BEGIN IMMEDIATE');
    this.#db.exec(sql);
    this.#guard.beforeCommit();
    this.#db.exec('COMMIT');
    this.#guard.afterCommit();
  }
}

/**
 * Calls `examine`. Returns `null` when `examine` succeeds, and the failure when `examine` throws. Also returns `null`
 * when another process holds the lock of the database, because nothing could be examined.
 */
function attempt(examine: () => void): Failure | null {
  try {
    examine();
    return null;
  } catch (error) {
    return isLocked(error) ? null : failureOf(error);
  }
}
