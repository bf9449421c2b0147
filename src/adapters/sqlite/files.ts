/** The names, the identity and the creation of the files of a store. */

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import { attempt, fileError } from './errors.ts';

/** SQLite creates, reads and deletes the companion files with these suffixes beside the database file. */
const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/** Resolves symbolic links, and returns the paths of a database file and its companion files. The files need not exist. */
export function databaseFiles(path: string): readonly string[] {
  const real = realPath(path);
  return [real, ...COMPANIONS.map((suffix) => real + suffix)];
}

/** Resolves symbolic links, as SQLite does. Neither the file nor the target of a link need exist. */
export function realPath(path: string): string {
  const real = resolveLinks(path);
  // The driver would remove the white space, and open another file.
  if (real !== real.trim()) throw invalidRequest(`'${real}' ends in white space: choose another name`);
  return real;
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const absolute = resolve(path);
    const real = join(resolveLinks(dirname(absolute)), basename(absolute));
    const isLink = codeOf(error) === 'ENOENT' && lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? resolveLinks(resolve(dirname(real), readlinkSync(real))) : real;
  }
}

/** Returns the paths of the companion files that contain data. Leaves out the `-shm` file, which the first connection creates again. */
export function companionsOf(path: string): readonly string[] {
  return ['-journal', '-wal'].map((suffix) => path + suffix).filter((file) => sizeOf(file) > 0);
}

export function foreignCompanion(file: string): AnimalStoreError {
  return storageUnavailable(`${file} belongs to another file: stop all servers, then move it away`);
}

/**
 * Refuses a write-ahead log whose database file is missing or empty, because SQLite would delete this log. Accepts two empty files,
 * which an interrupted first start leaves.
 */
export function refuseLogAlone(path: string): void {
  const real = realPath(path);
  const log = `${real}-wal`;
  // The size of the log is read first. Otherwise, if a server created both files between the two reads, only the log would be seen.
  const [logSize, size] = [log, real].map((file) => statSync(file, { throwIfNoEntry: false })?.size);
  if (logSize === undefined || size === logSize || (size ?? 0) > 0) return;
  const state = `is ${size === 0 ? 'empty' : 'missing'}, so that a process may have its only copy`;
  const advice = 'move the same file back before any restart: see docs/watch.md';
  const last = 'if no copy is left, stop all servers, then move the log away';
  throw storageUnavailable(`${log} exists, but the database file ${state}: ${advice}; ${last}`);
}

/** Whether the path leads to a file of the database, even if this file does not exist. */
export function isFileOf(database: string, path: string): boolean {
  const [real, identity] = [realPath(path), identityOf(path)];
  return databaseFiles(database).some((file) => file === real || (identity && identityOf(file) === identity));
}

/**
 * Returns the device and the inode of a file, or `undefined` if it is missing. Clients see the message of a thrown error, so the
 * message contains no path.
 */
export function identityOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev} ${stats.ino}`;
  } catch (cause) {
    throw storageUnavailable(`a file of the store cannot be accessed (${codeOf(cause)})`, cause, 'io_error');
  }
}

/** A missing file has the size 0. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A new file can be read only by its owner and, in a folder with the set-group-ID bit, by its group. */
export function modeOfNewFile(path: string): number {
  return (statSync(dirname(path)).mode & 0o2000) === 0 ? 0o600 : 0o640;
}

/** Creates a missing file, and returns whether it was missing. If SQLite created it, every user of the machine could read it. */
export function createFile(path: string): boolean {
  const file = normalize(path);
  try {
    // The journal is read before the file, as in `refuseLogAlone`. SQLite would delete a journal that the missing file may need.
    const [journal] = companionsOf(realPath(file));
    // Does not open an existing file, because closing it would end the locks that SQLite has on it.
    if (existsSync(file)) return false;
    refuseLogAlone(file);
    if (journal)
      throw storageUnavailable(`${journal} lacks its file: put the file back, or restore a backup`);
    createFolders(dirname(file));
    closeSync(openSync(file, 'a', modeOfNewFile(file)));
    return true;
  } catch (error) {
    throw fileError(`${path}: cannot create the file`, error);
  }
}

/** `mkdirSync` with the option `recursive` never returns in a file system that accepts no folders, such as /proc. */
function createFolders(path: string): void {
  for (const folder of missingFolders(path).toReversed())
    try {
      mkdirSync(folder);
    } catch (error) {
      // Another process may have created the folder.
      if (!existsSync(folder)) throw error;
    }
}

/** Returns the folders that a path lacks, the innermost one first. */
export function missingFolders(path: string): readonly string[] {
  return existsSync(path) ? [] : [path, ...missingFolders(dirname(path))];
}

type StoreFile = readonly [path: string, identity: string | undefined];
/** The database file, its write-ahead log and the index of the log. A file without identity did not exist, and may be created. */
export type StoreFiles = readonly [database: StoreFile, log: StoreFile, index: StoreFile];

/** Call this after a connection has read from the database, because the first read creates the write-ahead log and its index. */
export function filesOf(path: string): StoreFiles {
  const identify = (file: string): StoreFile => [file, identityOf(file)];
  const real = realPath(path);
  return [identify(resolve(path)), identify(`${real}-wal`), identify(`${real}-shm`)];
}

/** Throws when a file is missing or was replaced. SQLite neither removes nor replaces a file while a connection is open. */
export function assertSameFiles(files: StoreFiles): void {
  for (const [index, [path, expected]] of files.entries()) {
    const identity = identityOf(path);
    if (identity === expected || expected === undefined) continue;
    const isMissing = identity === undefined;
    const change = isMissing ? 'removed or renamed' : 'replaced by another file';
    const cause = `${path} was ${change}: move the same file back before any restart: see docs/watch.md`;
    const reason = isMissing ? 'file_missing' : 'file_replaced';
    const name = ['file', '-wal file', '-shm file'][index];
    throw new StorageFault(reason, `the database ${name} was ${change} while it was open`, { cause });
  }
}

/** Opens a file or a folder, calls `change`, and then makes the file, or the names in the folder, durable. */
export async function fsync(path: string, change?: () => void | Promise<void>): Promise<void> {
  await using file = await open(path);
  await change?.();
  await file.sync();
}

/** Calls `make` with a temporary name. Then removes the file with this name and its companion files, if they still exist. */
export async function withPartialFile<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.${randomUUID()}.partial`;
  return await make(partial).finally(() => removeDatabase(partial));
}

/** Returns the temporary files of killed processes, and of processes that still use them. */
export function partialsOf(path: string): readonly string[] {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  const names = attempt(() => readdirSync(folder), []);
  const partials = names.filter((name) => name.startsWith(start) && /\.partial(?:-\w+)?$/.test(name));
  return partials.map((name) => join(folder, name));
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(path + suffix, { force: true });
}

/** Renames a file, but never replaces an existing one: the first step fails if `to` exists. */
export function moveToNewName(from: string, to: string, exists: () => Error): void {
  try {
    closeSync(openSync(to, 'wx'));
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? exists() : error;
  }
  renameSync(from, to);
}
