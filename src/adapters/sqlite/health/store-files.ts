import { type BigIntStats, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { StorageFault } from '../../../application/ports/storage-fault.ts';

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

/** A connection must have read from the database, because the first read creates the write-ahead log and its index. */
export function filesOf(path: string): StoreFiles {
  const absolute = resolve(path);
  const real = realpathSync(absolute);
  return {
    main: identify(absolute),
    log: identify(`${real}-wal`),
    index: identify(`${real}-shm`),
  };
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

function identify(path: string): OpenFile {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, dev, ino };
}
