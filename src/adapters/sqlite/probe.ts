import type Database from 'better-sqlite3';
import { BATCH_LIMIT } from './batch.ts';
import { isLocked } from './errors.ts';
import type { FileGuard } from './file-guard.ts';
import { type Failure, type Findings, failureOf, findingsOf } from './findings.ts';
import { READ_ENDS } from './inspection.ts';
import { assertSameFiles, assertWritable, type StoreFiles } from './store-files.ts';

/**
 * SQL statements that invert the last bit of stored integers. SQLite does not write a page when a value is replaced by an
 * equal value. The inverted integer takes as many bytes as the integer.
 */
const INVERT = [
  'UPDATE sqlite_sequence SET seq = (seq | 1) - (seq & 1)',
  `UPDATE pets SET category_id = (category_id | 1) - (category_id & 1)
    WHERE id > (SELECT max(id) FROM pets) - ${BATCH_LIMIT}`,
];

/**
 * SQL statements that test whether the database can be written. They invert bits twice, so that the data and the size of
 * the database file stay the same. They write about as many pages as the largest batch of writes.
 */
const REWRITE = [...INVERT, ...INVERT];

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
    return { file, access, pages, ...(isWritten && this.#rewrite()) };
  }

  /**
   * Reads the first and the last rows from the disk. Empties the page cache of the connection first, because cached
   * pages can be read even when the disk fails.
   */
  #readEnds(): void {
    this.#guard.assertUnharmed();
    this.#db.pragma('shrink_memory');
    this.#db.prepare(READ_ENDS).get();
  }

  #rewrite(): Findings {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      this.#db.pragma(`user_version = ${this.#db.pragma('user_version', { simple: true })}`);
      for (const sql of REWRITE) this.#db.exec(sql);
      this.#guard.beforeCommit();
      this.#db.exec('COMMIT');
      this.#guard.afterCommit();
      return { write: null };
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      return findingsOf(failureOf(error));
    }
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
