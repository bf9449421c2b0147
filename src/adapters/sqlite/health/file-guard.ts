import { accessSync, type BigIntStats, constants, statSync } from 'node:fs';
import { StorageFault } from '../../../application/ports/storage-fault.ts';
import { LOCK_TIMEOUT } from '../database.ts';
import { openConnection } from '../driver.ts';
import { codeOf, isLocked } from '../errors.ts';
import { databaseSize, quickCheck, READ_ENDS } from '../inspection.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** Any other error code means that the file is missing, which `assertUnharmed` reports. */
const READ_ONLY = ['EROFS', 'EACCES', 'EPERM'];

/** Refuses commits to files that another program removed, replaced or damaged. */
export class FileGuard {
  readonly #files: StoreFiles;
  #main: BigIntStats;

  constructor(files: StoreFiles) {
    this.#files = files;
    this.#main = assertSameFiles(files);
  }

  assertUnharmed(): void {
    const main = assertSameFiles(this.#files);
    if (main.size !== this.#main.size || main.mtimeNs !== this.#main.mtimeNs) assertSound(this.#files);
    this.#main = main;
  }

  /** When this throws, the commit must not be acknowledged. A commit never makes the database file smaller. */
  afterCommit(): void {
    const main = assertSameFiles(this.#files);
    if (main.size < this.#main.size) assertSound(this.#files);
    this.#main = main;
  }

  assertWritable(): void {
    try {
      accessSync(this.#files.main.path, constants.W_OK);
    } catch (error) {
      if (!READ_ONLY.includes(codeOf(error))) return;
      throw new StorageFault('read_only', 'the database file is read-only', { cause: String(error) });
    }
  }
}

/** A locked file cannot be read. Its damage is found after its next change, or by the next test of the storage. */
function assertSound({ main, log }: StoreFiles): void {
  const { size } = statSync(main.path);
  if (size === 0) throw damaged('the file is empty');
  const db = openConnection(main.path, { readonly: true, timeout: LOCK_TIMEOUT });
  try {
    const expected = databaseSize(db);
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
