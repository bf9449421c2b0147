/** The files of a SQLite database. */

import { closeSync, fsyncSync, openSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

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
