/** The files of a SQLite database. */

import { closeSync, fsyncSync, linkSync, openSync, realpathSync, renameSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The suffixes of the companion files of a database file. SQLite creates, reads and deletes these files in the folder
 * of the database file.
 */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/**
 * Returns the paths of a database file and of its companion files. The files need not exist. Symbolic links are
 * resolved, because SQLite resolves symbolic links.
 */
export function databaseFiles(path: string): readonly string[] {
  const real = realPath(path);
  return [real, ...COMPANIONS.map((suffix) => real + suffix)];
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

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function realPath(path: string): string {
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
