import { chmodSync, chownSync, createReadStream, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { checkArgument, checkOptions, STRING } from '../../../application/arguments.ts';
import type { Restored, RestoreOptions } from '../../../application/ports/maintenance.ts';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { BACKUP_OPTIONS } from '../../../application/store-options.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import { invalidPetProblems } from '../../storage-kit/invalid-pets.ts';
import { createFolderOf } from '../database.ts';
import { openConnection } from '../driver.ts';
import { codeOf, fileError } from '../errors.ts';
import { fsync, isFileOf, modeOfNewFile, realPath, sizeOf, statOf, withPartialFile } from '../files.ts';
import {
  assertSchema,
  countRows,
  foreign,
  identify,
  invalidPets,
  quickCheck,
  unsupportedSchema,
} from '../inspection.ts';
import { ExclusiveStore } from './exclusive-store.ts';

/**
 * Replaces the store at `path` by the backup in `file`, and resolves when the restored store is durable. The store is
 * unchanged until a checked copy of the backup gets its name in one step.
 *
 * Rejects with `storage_unavailable` when another process has the store open, or when reading or writing fails. Rejects
 * with `invalid_request` when `file` is not a sound backup, or was written by a newer release. Rejects with
 * `OverwriteRefused` when the store has pets or cannot be read, and `overwrite` is not set.
 */
export async function restoreSqliteStore(
  path: string,
  file: string,
  options: RestoreOptions = {},
): Promise<Restored> {
  checkArgument('path', path, STRING);
  checkArgument('file', file, STRING);
  checkOptions(options, BACKUP_OPTIONS);
  const store = realPath(path);
  try {
    const source = refuseUnusable(file, store);
    createFolderOf(store);
    const exclusive = new ExclusiveStore(store, options.overwrite ?? false);
    try {
      return await withPartialFile(store, async (partial) => {
        await copy(file, partial, source.size, options);
        chmodSync(partial, (exclusive.stats?.mode ?? modeOfNewFile(store)) & 0o777);
        adoptOwner(partial, exclusive.stats ?? source);
        const counts = checkBackup(partial, file);
        fsync(partial);
        options.signal?.throwIfAborted();
        const setAside = exclusive.replaceBy(partial);
        fsync(dirname(store));
        return { location: store, bytes: statSync(store).size, ...counts, setAside };
      });
    } finally {
      exclusive.release();
    }
  } catch (error) {
    throw options.signal?.aborted ? error : fileError(`cannot restore ${store}`, error);
  }
}

function refuseUnusable(file: string, store: string): Stats {
  const stats = statOf(file);
  if (stats === undefined) throw invalidRequest(`${file}: there is no such file`);
  if (!stats.isFile()) throw invalidRequest(`${file} is not a regular file`);
  if (isFileOf(store, file)) throw invalidRequest(`${file} belongs to the store`);
  for (const companion of [`${file}-wal`, `${file}-journal`]) {
    if (sizeOf(companion) > 0) {
      throw invalidRequest(
        `${companion} exists, so ${file} is not a backup, but a store or a copy of its files: make a backup of it, with animal-store backup --database-url sqlite:${file} NEW`,
      );
    }
  }
  return stats;
}

async function copy(
  file: string,
  partial: string,
  size: number,
  { onProgress, signal }: RestoreOptions,
): Promise<void> {
  const target = await open(partial, 'wx', 0o600);
  try {
    let done = 0;
    for await (const chunk of createReadStream(file)) {
      signal?.throwIfAborted();
      await target.appendFile(chunk);
      done += chunk.length;
      onProgress?.(Math.min(1, done / size));
    }
  } finally {
    await target.close();
  }
}

/** Ignores an error, because only a privileged user can give a file to another user. */
function adoptOwner(partial: string, { uid, gid }: Stats): void {
  try {
    chownSync(partial, uid, gid);
  } catch {}
}

/** Checks all pages of the copy, and then leaves the journal mode WAL, so that the copy is complete without a log. */
function checkBackup(partial: string, file: string): Pick<Restored, 'pets' | 'apiKeys' | 'problems'> {
  let db: Database.Database | undefined;
  try {
    db = openConnection(partial, { fileMustExist: true }).defaultSafeIntegers(true);
    const { isOwn, version } = identify(db);
    if (!isOwn) throw invalidRequest(`${file} is not a backup of a store, but ${foreign(db)}`);
    const unsupported = unsupportedSchema(file, version);
    if (unsupported !== undefined) throw invalidRequest(unsupported);
    const damage = quickCheck(db, Number.POSITIVE_INFINITY);
    if (damage !== undefined) throw invalidRequest(`${file} is damaged: ${damage}`);
    assertSchema(db);
    db.pragma('journal_mode = DELETE');
    const problems = invalidPetProblems(invalidPets(db));
    return { pets: countRows(db, 'pets'), apiKeys: countRows(db, 'api_keys'), problems };
  } catch (error) {
    if (storageFaultReason(error) === 'damaged') throw invalidRequest(`${file}: ${(error as Error).message}`);
    const code = codeOf(error);
    if (!/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) throw error;
    const message = code === 'SQLITE_NOTADB' ? 'is not a backup of a store' : 'is damaged';
    throw invalidRequest(`${file} ${message} (${code})`, { cause: error });
  } finally {
    db?.close();
  }
}
