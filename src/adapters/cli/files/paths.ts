import { type BigIntStats, fstatSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError, FileError } from '../errors.ts';

type FileReference = string | number;

/** Returns a text that is the same for all paths of one file. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** A file that does not exist yet is recognized by its path, without the symbolic links of its folder. */
export function isSameFile(one: FileReference, other: FileReference): boolean {
  const [a, b] = [statsOf(one), statsOf(other)];
  if (a !== undefined && b !== undefined) return identityOf(a) === identityOf(b);
  return typeof one === 'string' && typeof other === 'string' && realPath(one) === realPath(other);
}

export function refuseStoreFile(file: FileReference, name: string, storeFiles: readonly string[]): void {
  if (storeFiles.some((own) => isSameFile(file, own))) throw new FileError(`${name} belongs to the store`);
}

/** Returns the real path of `file`, or `file` itself if nothing exists there. Throws if no file can be written there. */
export function pathToWrite(file: string, option: string): string {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
    if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) return file;
    throw new CommandError(`${option}: the folder of ${file} does not exist`);
  }
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return realpathSync(file);
  throw new FileError(`${option}: ${file} is not a regular file`);
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
