/** Checks whether a command may write to a path, and whether two references lead to the same file. */

import { type BigIntStats, fstatSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError, FileError } from './errors.ts';

/** The path of a file, or the descriptor of an open file. */
export type FileReference = string | number;

/** Returns the device number and the inode number of a file. Both numbers are the same for all paths of one file. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * Whether two references lead to the same file. If one of the files does not exist yet, the two paths are compared
 * after the symbolic links in their folders have been resolved.
 */
export function isSameFile(one: FileReference, other: FileReference): boolean {
  const [a, b] = [statsOf(one), statsOf(other)];
  if (a !== undefined && b !== undefined) return identityOf(a) === identityOf(b);
  return typeof one === 'string' && typeof other === 'string' && realPath(one) === realPath(other);
}

/**
 * Returns the real path of `file`, or `file` itself if nothing exists there. Throws a {@link FileError} if `file` is
 * not a regular file, and a {@link CommandError} if the folder of `file` does not exist.
 */
export function pathToWrite(file: string, option: string): string {
  const notRegular = new FileError(`${option}: ${file} is not a regular file`);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) {
    if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) return file;
    throw new CommandError(`${option}: the folder of ${file} does not exist`);
  }
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw notRegular;
  return realpathSync(file);
}

function statsOf(file: FileReference): BigIntStats | undefined {
  return typeof file === 'number'
    ? fstatSync(file, { bigint: true })
    : statSync(file, { bigint: true, throwIfNoEntry: false });
}

function realPath(file: string): string {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}
