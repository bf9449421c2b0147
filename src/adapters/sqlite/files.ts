/** The files of a SQLite database. */

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from './errors.ts';

/**
 * The suffixes of the companion files of a database file. SQLite creates, reads and deletes these files in the folder
 * of the database file.
 */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

const SET_GROUP_ID = 0o2000;

/**
 * Returns the paths of a database file and of its companion files. The files need not exist. Symbolic links are
 * resolved, because SQLite resolves symbolic links.
 */
export function databaseFiles(path: string): readonly string[] {
  const real = realPath(path);
  return [real, ...COMPANIONS.map((suffix) => real + suffix)];
}

/** Returns the path of a database file without symbolic links. The file need not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The database file does not exist yet.
  }
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return resolve(path);
  }
}

/** Returns whether a path leads to one of the files of a database, by whatever name. */
export function isFileOf(database: string, path: string): boolean {
  const identity = identityOf(path);
  return identity !== undefined && databaseFiles(database).some((own) => identityOf(own) === identity);
}

/** Returns a text that is different for different files, whatever their names are. */
export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

export function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Returns the size of a file in bytes. A missing file has the size 0. */
export function sizeOf(path: string): number {
  return statOf(path)?.size ?? 0;
}

/**
 * Returns the permissions of a new file with pets and hashes of keys: only its owner may read it. In a folder with the
 * set-group-ID bit, new files belong to the group of the folder, and the group may read them.
 */
export function modeOfNewFile(path: string): number {
  return (statSync(dirname(path)).mode & SET_GROUP_ID) === 0 ? 0o600 : 0o640;
}

/** Waits until a file or a folder is durable. */
export function fsync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Calls `make` with a temporary name for a database file that will be moved to `path`. Afterwards removes all files
 * that still have the temporary name.
 */
export async function withPartialFile<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    return await make(partial);
  } finally {
    for (const suffix of ['', ...COMPANIONS]) rmSync(partial + suffix, { force: true });
  }
}

/**
 * Moves a file to a path without replacing an existing file. Creates a hard link, which fails when a file exists at this
 * path. On a file system without hard links, creates an empty file instead, which fails in the same case, and then
 * replaces the empty file. With a hard link, the file also keeps its old path.
 * @param exists returns the error that is thrown when a file already exists at the path
 */
export function moveToNewName(from: string, to: string, exists: () => Error): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw exists();
    try {
      closeSync(openSync(to, 'wx'));
    } catch (failure) {
      throw codeOf(failure) === 'EEXIST' ? exists() : failure;
    }
    renameSync(from, to);
  }
}
