import { accessSync, type BigIntStats, constants, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import { LOCK_TIMEOUT, openConnection } from './driver.ts';
import { isLocked } from './errors.ts';
import { databaseSize, quickCheck, READ_ENDS } from './inspection.ts';

interface OpenFile {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** SQLite neither replaces nor removes these files while a connection is open. */
export interface StoreFiles {
  readonly main: OpenFile;
  /** The write-ahead log. */
  readonly log: OpenFile;
  /** The index of the write-ahead log, which all processes that have the store open share. */
  readonly index: OpenFile;
}

/** Another error code means that the file is missing, which {@link assertSameFiles} reports. */
const READ_ONLY = ['EROFS', 'EACCES', 'EPERM'];

/** A connection must have read from the database, because the first read creates the write-ahead log and its index. */
export function filesOf(path: string): StoreFiles {
  const absolute = resolve(path);
  const real = realpathSync(absolute);
  return { main: identify(absolute), log: identify(`${real}-wal`), index: identify(`${real}-shm`) };
}

function identify(path: string): OpenFile {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, dev, ino };
}

/** Throws a {@link StorageFault} when a file is missing or was replaced. Returns the attributes of the database file. */
export function assertSameFiles({ main, log, index }: StoreFiles): BigIntStats {
  const state = assertSame(main);
  assertSame(log);
  assertSame(index);
  return state;
}

export function assertSame({ path, dev, ino }: OpenFile): BigIntStats {
  let state: BigIntStats;
  try {
    state = statSync(path, { bigint: true });
  } catch (error) {
    throw new StorageFault('file_missing', 'the database file was removed or renamed while it was open', {
      cause: `${path}: ${error}. Move it back, or restart the service`,
    });
  }
  if (state.ino !== ino || state.dev !== dev) {
    throw new StorageFault('file_replaced', 'the database file was replaced while it was open', {
      cause: `${path}: this path has another file. Move the old file back, or restart the service`,
    });
  }
  return state;
}

export function assertWritable({ main }: StoreFiles): void {
  try {
    accessSync(main.path, constants.W_OK);
  } catch (error) {
    if (!READ_ONLY.includes(codeOf(error))) return;
    throw new StorageFault('read_only', 'the database file is read-only', { cause: String(error) });
  }
}

/** The check of the files before each commit. */
export class CommitCheck {
  readonly files: StoreFiles;
  #main: BigIntStats;

  constructor(files: StoreFiles) {
    this.files = files;
    this.#main = assertSameFiles(files);
  }

  /** Throws when another program removed, replaced or damaged a file. Only a file that has changed is read. */
  assertUnharmed(): void {
    const main = assertSameFiles(this.files);
    if (main.size !== this.#main.size || main.mtimeNs !== this.#main.mtimeNs) assertSound(this.files);
    this.#main = main;
  }

  /** A commit never makes the database file smaller: when it is, the next check reads the file. Never throws. */
  acceptCommit(): void {
    try {
      const main = statSync(this.files.main.path, { bigint: true });
      if (main.size >= this.#main.size) this.#main = main;
    } catch {}
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
