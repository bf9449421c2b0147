/** The files that a SQLite database lives in. */

import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** What follows the name of a database in the names of files that SQLite makes, reads and deletes beside it. */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/** The database file and its companions, there or not, by the names that SQLite uses: it follows symbolic links. */
export function databaseFiles(path: string): readonly string[] {
  const real = realPath(path);
  return [real, ...COMPANIONS.map((suffix) => real + suffix)];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is not there yet.
  }
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return resolve(path);
  }
}
