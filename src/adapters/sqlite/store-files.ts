/** The files that a store has open, told from others that come to be at their paths. */

import { accessSync, type BigIntStats, constants, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StorageFault } from '../../application/storage-fault.ts';

interface OpenFile {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Other errors say that the file is missing, which is another fault. */
const READ_ONLY = ['EROFS', 'EACCES', 'EPERM'];

/** What SQLite opens. No file of it is replaced or removed as long as any connection is open. */
export interface StoreFiles {
  readonly main: OpenFile;
  /** The write-ahead log. */
  readonly log: OpenFile;
  /** The index of the log, which processes share. */
  readonly index: OpenFile;
  /** The path of the folder of the log and its index. */
  readonly folder: string;
}

/** The files at this path. To be called when a connection has read something, since only then all of them are there. */
export function filesOf(path: string): StoreFiles {
  const absolute = resolve(path);
  const real = realpathSync(absolute);
  return {
    main: identify(absolute),
    log: identify(`${real}-wal`),
    index: identify(`${real}-shm`),
    folder: dirname(real),
  };
}

/** Throws a {@link StorageFault} when one of the files is gone, or another one is at its path. */
export function assertSameFiles({ main, log, index }: StoreFiles): void {
  assertSame(main);
  assertSame(log);
  assertSame(index);
}

/** The same for one file, whose state it returns. */
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
      cause: `${path}: the file at this path is another one. Move the old one back, or restart the service`,
    });
  }
  return state;
}

/** When a file of the folder was last made, removed or renamed. */
export function folderChangedAt({ folder }: StoreFiles): bigint | undefined {
  return statSync(folder, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

/** Throws a {@link StorageFault} when the file may not be written, as after its file system became read-only. */
export function assertWritable({ main: { path } }: StoreFiles): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    if (!READ_ONLY.includes(String((error as NodeJS.ErrnoException).code))) return;
    throw new StorageFault('read_only', 'the database file is read-only', { cause: String(error) });
  }
}

function identify(path: string): OpenFile {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, dev, ino };
}
