/** Files that a command must not read or write: those of the store, and streams in place of files. */

import { fstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError } from './errors.ts';

/** A path or a file descriptor. */
type FileReference = string | number;

/** Throws if a file is one of the files of the store, by any of its names, whether or not it exists. */
export function refuseStoreFile(file: FileReference, name: string, storeFiles: readonly string[]): void {
  const identity = identityOf(file);
  if (storeFiles.some((own) => identityOf(own) === identity))
    throw new CommandError(`${name} belongs to the store`);
}

/** Whether a path leads to a stream, such as `-`, `/dev/stdout`, a pipe or a socket. */
export function isStream(file: string): boolean {
  if (file === '-' || /^\/dev\/(?:std(?:in|out|err)|fd\/\d+)$/.test(file)) return true;
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && (stats.isFIFO() || stats.isCharacterDevice() || stats.isSocket());
}

/** The path of a file that does not exist yet identifies it, without the symbolic links of its folder. */
function identityOf(file: FileReference): string {
  const stats =
    typeof file === 'number'
      ? fstatSync(file, { bigint: true })
      : statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats !== undefined) return `${stats.dev}:${stats.ino}`;
  const [path, folder] = [String(file), dirname(String(file))];
  return statSync(folder, { throwIfNoEntry: false }) ? join(realpathSync(folder), basename(path)) : path;
}
