/** A copy of a store's file, made beside the name that it gets when it is whole. */

import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BackupOptions } from '../../application/ports.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { openReader } from './database.ts';
import { storageError } from './errors.ts';

/** Pages of 4 KiB between two turns of the event loop. */
const PAGES_PER_STEP = 1000;

/** What SQLite can leave beside a file that it writes. */
const COMPANIONS = ['', '-journal', '-wal', '-shm'];

/** Copies the store at `path`. See `Storage.backup` for the contract. */
export async function backUp(
  path: string,
  file: string,
  { overwrite = false, onProgress, signal }: BackupOptions = {},
): Promise<void> {
  refuseOwnFile(path, file);
  if (!overwrite) refuseExisting(file);
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    closeSync(openSync(partial, 'wx', statSync(path).mode));
    await copy(path, partial, onProgress, signal);
    fsync(partial);
    if (overwrite) renameSync(partial, file);
    else renameToNew(partial, file);
    fsync(dirname(file));
  } catch (error) {
    throw signal?.aborted ? error : backupError(error, file);
  } finally {
    for (const companion of COMPANIONS) rmSync(partial + companion, { force: true });
  }
}

/** The transaction that stays open makes every page one of the same moment; without it a write would start all over. */
async function copy(
  path: string,
  partial: string,
  onProgress: BackupOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<void> {
  const db = openReader(path);
  try {
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    await db.backup(partial, {
      progress({ totalPages, remainingPages }) {
        signal?.throwIfAborted();
        if (totalPages > 0) onProgress?.(1 - remainingPages / totalPages);
        return PAGES_PER_STEP;
      },
    });
    signal?.throwIfAborted();
  } finally {
    db.close();
  }
}

/** A link is refused where there is a file by now, a renaming would replace it; but not every file system has links. */
function renameToNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    refuseExisting(to);
    renameSync(from, to);
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new AnimalStoreError('invalid_request', `${file} exists already`);
}

function refuseOwnFile(path: string, file: string): void {
  const target = statSync(file, { throwIfNoEntry: false });
  for (const companion of target === undefined ? [] : COMPANIONS) {
    const own = statSync(path + companion, { throwIfNoEntry: false });
    if (own?.ino === target?.ino && own?.dev === target?.dev) {
      throw new AnimalStoreError('invalid_request', `${file} is the store itself`);
    }
  }
}

function backupError(error: unknown, file: string): AnimalStoreError {
  const code = codeOf(error);
  if (code === 'EEXIST') return new AnimalStoreError('invalid_request', `${file} exists already`);
  const { message } = code.startsWith('SQLITE_') ? storageError(error) : (error as Error);
  return new AnimalStoreError('storage_unavailable', `cannot write ${file}: ${message}`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function fsync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
