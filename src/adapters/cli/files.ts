/** Which files a command may write, and which are the same by different names. */

import { type BigIntStats, fstatSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError, UsageError } from './errors.ts';

/** A name, or the descriptor of a file that is open. */
export type FileReference = string | number;

/** Tells a file from every other one, whatever its names are. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Whether both lead to the same file, by whatever name; two names also when there is no such file yet. */
export function isSameFile(one: FileReference, other: FileReference): boolean {
  const [a, b] = [statsOf(one), statsOf(other)];
  if (a !== undefined && b !== undefined) return identityOf(a) === identityOf(b);
  return typeof one === 'string' && typeof other === 'string' && realPath(one) === realPath(other);
}

/** Where a regular file of this name is or would be: symbolic links are followed. Refuses a name of anything else. */
export function pathToWrite(file: string, option: string): string {
  const notRegular = new UsageError(`${option}: ${file} is not a regular file`);
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
