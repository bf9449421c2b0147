import { type BigIntStats, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageFault } from '../../../application/ports/storage-fault.ts';
import { READ_LOCK_TIMEOUT } from '../database.ts';
import { isLocked } from '../errors.ts';
import { databaseSize, quickCheck, READ_ENDS } from '../inspection.ts';
import { type Failure, failureIn } from './findings.ts';
import {
  assertSame,
  assertSameFiles,
  assertWritable,
  folderChangedAt,
  type StoreFiles,
} from './store-files.ts';

/**
 * How long commits rely on the last check of the files of the store, in milliseconds. A check before every commit would
 * make commits slow. Within this time, the files are checked only if a file in their folder was created, removed or
 * renamed.
 */
const FRESH_TIME = 10;

/**
 * Checks that the writer thread commits to the database file at the path of the store, and that no other program
 * truncated or overwrote this file. Usually, only the writer thread changes the database file. After any other change,
 * the file is examined for damage.
 */
export class FileGuard {
  readonly #files: StoreFiles;
  #main: BigIntStats;
  #folderChangedAt: bigint | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** Throws when one of the files is missing or was replaced. */
  constructor(files: StoreFiles) {
    this.#files = files;
    this.#main = assertSameFiles(files);
  }

  /** Checks the files of the store before a commit. When this method throws, nothing is stored. */
  beforeCommit(): void {
    const isFresh = performance.now() - this.#checkedAt < FRESH_TIME;
    if (!isFresh || folderChangedAt(this.#files) !== this.#folderChangedAt) this.assertUnharmed();
  }

  /**
   * Checks the files of the store after a commit. Throws when another file is at the path of the store, because the
   * commit must not be acknowledged in this case. A commit never makes the database file smaller, so a smaller file is
   * examined for damage.
   */
  afterCommit(): void {
    const folder = folderChangedAt(this.#files);
    // The write-ahead log is checked only when its folder has changed. A `stat` of the log after each commit would make
    // commits slow.
    const main =
      folder === this.#folderChangedAt ? assertSame(this.#files.main) : assertSameFiles(this.#files);
    this.#accept(main, folder, main.size < this.#main.size);
  }

  /** Throws a {@link StorageFault} when another program removed, replaced or damaged the database file. */
  assertUnharmed(): void {
    const folder = folderChangedAt(this.#files);
    const main = assertSameFiles(this.#files);
    this.#accept(main, folder, main.size !== this.#main.size || main.mtimeNs !== this.#main.mtimeNs);
  }

  /** Returns why the database file cannot be written, or `null` when it can be written. */
  findLackOfAccess(): Failure | null {
    return failureIn(() => assertWritable(this.#files));
  }

  #accept(main: BigIntStats, folder: bigint | undefined, isChangedByOthers: boolean): void {
    if (isChangedByOthers) assertSound(this.#files);
    this.#main = main;
    this.#folderChangedAt = folder;
    this.#checkedAt = performance.now();
  }
}

/**
 * Throws when a database file is damaged that another program has changed while the file was open. While another process
 * has locked the file, the file cannot be read and is considered undamaged. Damage can still be found after the next
 * change of the file, or by the next test of the storage.
 */
function assertSound({ main, log }: StoreFiles): void {
  const { size } = statSync(main.path);
  if (size === 0) throw damaged('the file is empty');
  const db = new Database(main.path, { readonly: true, fileMustExist: true, timeout: READ_LOCK_TIMEOUT });
  try {
    const expected = databaseSize(db.defaultSafeIntegers(true));
    // The newest pages may be in the write-ahead log, and not yet in the database file.
    if (expected > size + statSync(log.path).size) throw damaged(`expected ${expected} bytes, got ${size}`);
    db.prepare(READ_ENDS).get();
    const damage = quickCheck(db);
    if (damage !== undefined) throw damaged(damage);
  } catch (error) {
    if (!isLocked(error)) throw error;
  } finally {
    db.close();
  }
}

function damaged(cause: string): StorageFault {
  return new StorageFault('damaged', 'the database file was changed by another program and is damaged', {
    cause,
  });
}
