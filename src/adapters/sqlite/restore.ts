/** Replaces the database file of a store by a backup. The store must not be open. */

import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, createReadStream, rmSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { checkArgument, checkOptions, STRING } from '../../application/arguments.ts';
import type { Restored, RestoreOptions } from '../../application/ports/maintenance.ts';
import { BACKUP_OPTIONS } from '../../application/store-options.ts';
import { AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';
import { createFolderOf } from './database.ts';
import { storageError } from './errors.ts';
import { ExclusiveStore } from './exclusive-store.ts';
import { COMPANIONS, databaseFiles, fsync, modeOfNewFile } from './files.ts';
import { identify, quickCheck } from './inspection.ts';
import { MIGRATIONS } from './schema.ts';

/** The parts of a restore that copy and check the backup. */
interface Backup {
  readonly pets: number;
  readonly apiKeys: number;
}

/**
 * Replaces the store at `path` by the backup in `file`, and resolves when the restored store is durable. The backup is
 * copied to a temporary name beside the store and checked there. Until the copy gets the name of the store in one step,
 * the store is unchanged.
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
  const { overwrite = false, onProgress, signal } = options;
  const [store = path] = databaseFiles(path);
  const partial = `${store}.${randomUUID()}.partial`;
  let exclusive: ExclusiveStore | undefined;
  try {
    const source = refuseUnusable(file, store);
    createFolderOf(store);
    exclusive = new ExclusiveStore(store, overwrite);
    await copy(file, partial, source.size, onProgress, signal);
    chmodSync(partial, (exclusive.stats?.mode ?? modeOfNewFile(store)) & 0o777);
    adoptOwner(partial, exclusive.stats ?? source);
    const { pets, apiKeys } = checkBackup(partial, file);
    fsync(partial);
    signal?.throwIfAborted();
    const setAside = exclusive.replaceBy(partial);
    fsync(dirname(store));
    return { location: store, bytes: statSync(store).size, pets, apiKeys, setAside };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw restoreError(error, store);
  } finally {
    exclusive?.release();
    for (const companion of ['', ...COMPANIONS]) rmSync(partial + companion, { force: true });
  }
}

/** Returns the attributes of the backup. Throws when `file` is not a regular file, or is a database that is in use. */
function refuseUnusable(file: string, store: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw invalid(`${file}: there is no such file`);
  if (!stats.isFile()) throw invalid(`${file} is not a regular file`);
  for (const own of databaseFiles(store)) {
    const other = statSync(own, { throwIfNoEntry: false });
    if (other?.ino === stats.ino && other.dev === stats.dev) throw invalid(`${file} belongs to the store`);
  }
  for (const suffix of ['-wal', '-journal']) {
    if (statSync(file + suffix, { throwIfNoEntry: false })?.size) {
      throw invalid(`${file + suffix} exists: expected a backup, got a database that is in use`);
    }
  }
  return stats;
}

/** Copies the backup. The copy is closed when the promise is settled. */
async function copy(
  file: string,
  partial: string,
  size: number,
  onProgress: RestoreOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<void> {
  const target = await open(partial, 'wx', 0o600);
  try {
    const options = signal === undefined ? {} : { signal };
    await target.writeFile(reported(file, size, onProgress), options);
  } finally {
    await target.close();
  }
}

/** Yields the chunks of a file, and reports each of them. */
async function* reported(
  file: string,
  size: number,
  onProgress: RestoreOptions['onProgress'],
): AsyncIterable<Buffer> {
  let done = 0;
  for await (const chunk of createReadStream(file)) {
    yield chunk;
    done += chunk.length;
    onProgress?.(Math.min(1, done / size));
  }
}

/** Gives the copy the owner of the replaced store, if this user may do so. */
function adoptOwner(partial: string, { uid, gid }: Stats): void {
  try {
    chownSync(partial, uid, gid);
  } catch {
    // Only a privileged user can give a file to another user.
  }
}

/**
 * Checks the copy of a backup: its application, its schema version and all its pages. Then leaves the journal mode WAL,
 * so that the copy is complete without a write-ahead log. A server enters this mode again.
 */
function checkBackup(partial: string, file: string): Backup {
  let db: Database.Database | undefined;
  try {
    db = new Database(partial, { fileMustExist: true }).defaultSafeIntegers(true);
    const { isOwn, version } = identify(db);
    if (!isOwn) throw invalid(`${file} is not a backup of a store`);
    if (version > MIGRATIONS.length) {
      throw invalid(
        `${file} has schema version ${version}, this release supports ${MIGRATIONS.length}: use the release that wrote it, or a newer one`,
      );
    }
    const damage = quickCheck(db, Number.POSITIVE_INFINITY);
    if (damage !== undefined) throw invalid(`${file} is damaged: ${damage}`);
    db.pragma('journal_mode = DELETE');
    const count = db.prepare(
      'SELECT (SELECT count(*) FROM pets) AS pets, (SELECT count(*) FROM api_keys) AS keys',
    );
    const { pets, keys } = count.get() as { pets: bigint; keys: bigint };
    return { pets: Number(pets), apiKeys: Number(keys) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) throw error;
    const message = code === 'SQLITE_NOTADB' ? 'is not a backup of a store' : 'is damaged';
    throw new AnimalStoreError('invalid_request', `${file} ${message} (${code})`, { cause: error });
  } finally {
    db?.close();
  }
}

function restoreError(error: unknown, store: string): AnimalStoreError {
  const known = asAnimalStoreError(error);
  if (known !== undefined) return known;
  const isDriver = error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_');
  const { message } = isDriver ? storageError(error) : (error as Error);
  return new AnimalStoreError('storage_unavailable', `cannot restore ${store}: ${message}`, { cause: error });
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}
