/** The files of a SQLite database. */

import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The suffixes of the companion files. SQLite creates, reads and deletes the companion files of a database file in the
 * same folder.
 */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/**
 * Returns the paths of a database file and of its companion files, whether or not the files exist. Symbolic links are
 * resolved, because SQLite resolves them too.
 */
export function databaseFiles(path: string): readonly string[] {
  const real = realPath(path);
  return [real, ...COMPANIONS.map((suffix) => real + suffix)];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The file does not exist yet.
  }
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return resolve(path);
  }
}
