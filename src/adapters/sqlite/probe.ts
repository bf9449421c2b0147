import type Database from 'better-sqlite3';
import { BATCH_LIMIT } from './batch.ts';
import { READ_ENDS } from './database.ts';
import { isLocked } from './errors.ts';
import type { FileGuard } from './file-guard.ts';
import { type Failure, type Findings, failureOf, findingsOf } from './findings.ts';
import { assertSameFiles, assertWritable, type StoreFiles } from './store-files.ts';

/** Writes about as many pages as the largest batch, and changes nothing; the file does not grow. */
const REWRITE = [
  'UPDATE sqlite_sequence SET seq = seq',
  `UPDATE pets SET status = status WHERE id > (SELECT max(id) FROM pets) - ${BATCH_LIMIT}`,
];

/** Finds out whether the storage could serve if it were asked to. */
export class Probe {
  readonly #db: Database.Database;
  readonly #files: StoreFiles;
  readonly #guard: FileGuard;

  constructor(db: Database.Database, files: StoreFiles, guard: FileGuard) {
    this.#db = db;
    this.#files = files;
    this.#guard = guard;
  }

  /** @param tryWrite whether to see if writing works again; it is a real write, so only after one that failed */
  run(tryWrite: boolean): Findings {
    const file = attempt(() => assertSameFiles(this.#files));
    if (file !== null) return { file };
    const access = attempt(() => assertWritable(this.#files));
    const pages = attempt(() => this.#readEnds());
    const isWritten = tryWrite && access === null && pages === null;
    return { file, access, pages, ...(isWritten && this.#rewrite()) };
  }

  /** From the disk, not from the cache of this connection. */
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

/** A lock of another process tells nothing, so the part is taken for sound. */
function attempt(look: () => void): Failure | null {
  try {
    look();
    return null;
  } catch (error) {
    return isLocked(error) ? null : failureOf(error);
  }
}
