/** The backup of a store that is open, into a file. */

import { closeSync, lstatSync, openSync, renameSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type BackupContents,
  type BackupOptions,
  OverwriteRefused,
} from '../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { connect, openReader } from './database.ts';
import { fileError } from './errors.ts';
import { checkBackup } from './examination.ts';
import {
  companionsOf,
  fsync,
  isFileOf,
  modeOfNewFile,
  moveToNewName,
  realPath,
  withPartialFile,
} from './files.ts';
import { beginEpoch, contentsOf } from './schema.ts';

/** The number of database pages of 4 KiB that are copied in one iteration of the event loop. */
const PAGES_PER_STEP = 1000;
/** Names of standard output and of other open files. */
const STREAM = /^(-|\/dev\/std(in|out|err)|\/dev\/fd\/.*|\/proc\/.*)$/;

/**
 * Copies the store to `file`, as `Storage.backup` describes. The copy has a temporary name until it is complete. Resolves
 * with its contents if it was verified: a copy that is not sound never replaces an older one.
 */
export async function backUp(
  store: string,
  file: string,
  options: BackupOptions,
  signal: AbortSignal,
): Promise<BackupContents | undefined> {
  const { overwrite = false } = options;
  try {
    if (STREAM.test(file) || file.endsWith('/') || file.endsWith(sep)) throw notAFile(file);
    const target = realPath(file);
    if (isFileOf(store, target)) throw invalidRequest(`${file} belongs to the store`);
    // SQLite recognizes companion files only by their names, and copies their contents into the database.
    const [companion] = companionsOf(target);
    if (companion !== undefined)
      throw invalidRequest(`${companion} exists: SQLite would treat it as a part of the backup`);
    const stats = lstatSync(target, { throwIfNoEntry: false });
    if (stats?.isFile() === false) throw notAFile(file);
    if (stats !== undefined && !overwrite) throw existing(file);
    return await withPartialFile(target, async (partial) => {
      closeSync(openSync(partial, 'wx', modeOfNewFile(partial)));
      const original = await copy(store, partial, options, signal);
      // A file in WAL mode cannot be read where nothing can be written.
      connect(partial, {}, (db) => {
        db.pragma('journal_mode = DELETE');
        beginEpoch(db);
      }).close();
      const contents = original && verify(partial, file, original);
      fsync(partial);
      if (overwrite) renameSync(partial, target);
      else moveToNewName(partial, target, () => existing(file));
      fsync(dirname(target));
      return contents;
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw fileError(`cannot back up ${store} to ${file}`, error);
  }
}

function existing(file: string): AnimalStoreError {
  return new OverwriteRefused(`${file} exists already`);
}

function notAFile(file: string): AnimalStoreError {
  return invalidRequest(`${file} is not a regular file: a backup needs the path of a file`);
}

type Contents = Omit<BackupContents, 'problems'>;

/** Copies in one read transaction, because SQLite would otherwise restart after each write of another connection. */
async function copy(
  store: string,
  partial: string,
  { onProgress, onVerified }: BackupOptions,
  signal: AbortSignal,
): Promise<Contents | undefined> {
  const db = openReader(store);
  try {
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    await db.backup(partial, {
      progress({ totalPages, remainingPages }) {
        signal.throwIfAborted();
        if (totalPages > 0) onProgress?.(1 - remainingPages / totalPages);
        return PAGES_PER_STEP;
      },
    });
    signal.throwIfAborted();
    return onVerified && contentsOf(db);
  } finally {
    db.close();
  }
}

function verify(partial: string, file: string, original: Contents): BackupContents {
  try {
    const { problems, ...contents } = checkBackup(partial, 'the copy');
    if (isDeepStrictEqual(contents, original)) return { ...contents, problems };
    throw new Error('the copy has other contents than the store');
  } catch (error) {
    const advice = 'look at the store with animal-store doctor, and at the disk';
    throw storageUnavailable(`${file} was not written: ${(error as Error).message}: ${advice}`, error);
  }
}
