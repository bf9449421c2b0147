import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../storage-kit/store-errors.ts';

/** SQLite creates, reads and deletes the companion files with these suffixes beside the database file. */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

const SET_GROUP_ID = 0o2000;

/** Returns the paths of a database file and of its companion files, without symbolic links. No file needs to exist. */
export function databaseFiles(path: string): readonly string[] {
  const real = realPath(path);
  return [real, ...COMPANIONS.map((suffix) => real + suffix)];
}

/** Resolves symbolic links, as SQLite does. The file need not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {}
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return resolve(path);
  }
}

export function isFileOf(database: string, path: string): boolean {
  const identity = identityOf(path);
  return identity !== undefined && databaseFiles(database).some((own) => identityOf(own) === identity);
}

export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

export function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/**
 * Returns a warning for a file that is mounted alone, as `docker run -v pets.db:/data/pets.db` does: its write-ahead log
 * then stays in the container.
 */
export function mountWarning(path: string): string | undefined {
  if (!isMountPoint(path)) return undefined;
  return `${path} is mounted alone, without its write-ahead log ${path}-wal, which has the newest pets: mount its folder instead`;
}

/** Only Linux has this list. The path of a mount point is the fifth field, with octal escapes (proc_pid_mountinfo(5)). */
export function isMountPoint(path: string): boolean {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((mount) => unescaped(mount.split(' ')[4] ?? '') === path);
  } catch {
    return false;
  }
}

function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** A missing file has the size 0. */
export function sizeOf(path: string): number {
  return statOf(path)?.size ?? 0;
}

/** Only its owner may read a new file. In a folder with the set-group-ID bit, the group of the folder may read it too. */
export function modeOfNewFile(path: string): number {
  return (statSync(dirname(path)).mode & SET_GROUP_ID) === 0 ? 0o600 : 0o640;
}

export function fsync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Calls `make` with a temporary name, and then removes the database files that still have this name. */
export async function withPartialFile<T>(path: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    return await make(partial);
  } finally {
    for (const suffix of ['', ...COMPANIONS]) rmSync(partial + suffix, { force: true });
  }
}

/** Never replaces an existing file. Where hard links are not supported, a new empty file reserves the name. */
export function moveToNewName(from: string, to: string, exists: () => Error): void {
  try {
    linkSync(from, to);
  } catch {
    try {
      closeSync(openSync(to, 'wx'));
    } catch (error) {
      throw codeOf(error) === 'EEXIST' ? exists() : error;
    }
    renameSync(from, to);
  }
}
