import { accessSync, type BigIntStats, constants, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageFault } from '../../../application/ports/storage-fault.ts';
import { LOCK_TIMEOUT } from '../database.ts';
import { codeOf, isLocked } from '../errors.ts';
import { databaseSize, quickCheck, READ_ENDS } from '../inspection.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/**
 * The error codes of the operating system that mean that a file is read-only. Any other error code means that the file
 * is missing, which `assertUnharmed` reports.
 */
const READ_ONLY = ['EROFS', 'EACCES', 'EPERM'];

/**
 * Checks that the writer thread commits to the database file at the path of the store, and that no other program
 * truncated or overwrote this file. Usually, only the writer thread changes the database file. After any other change,
 * the file is examined for damage.
 */
export class FileGuard {
  readonly #files: StoreFiles;
  #main: BigIntStats;

  /** Throws when one of the files is missing or was replaced. */
  constructor(files: StoreFiles) {
    this.#files = files;
    this.#main = assertSameFiles(files);
  }

  /** Throws a {@link StorageFault} when another program removed, replaced or damaged one of the files. */
  assertUnharmed(): void {
    const main = assertSameFiles(this.#files);
    if (main.size !== this.#main.size || main.mtimeNs !== this.#main.mtimeNs) assertSound(this.#files);
    this.#main = main;
  }

  /**
   * Checks the files of the store after a commit. When this method throws, the commit must not be acknowledged. A commit
   * can change the database file, but it never makes the file smaller.
   */
  afterCommit(): void {
    const main = assertSameFiles(this.#files);
    if (main.size < this.#main.size) assertSound(this.#files);
    this.#main = main;
  }

  /** Throws a {@link StorageFault} when the file cannot be written, for example because its disk became read-only. */
  assertWritable(): void {
    try {
      accessSync(this.#files.main.path, constants.W_OK);
    } catch (error) {
      if (!READ_ONLY.includes(codeOf(error))) return;
      throw new StorageFault('read_only', 'the database file is read-only', { cause: String(error) });
    }
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
  const db = new Database(main.path, { readonly: true, fileMustExist: true, timeout: LOCK_TIMEOUT });
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
