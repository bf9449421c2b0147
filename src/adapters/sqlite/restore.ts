import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { checkArgument, checkOptions, STRING } from '../../application/arguments.ts';
import {
  OverwriteRefused,
  type Problem,
  type Restored,
  type RestoredKey,
  type RestoreOptions,
} from '../../application/ports/maintenance.ts';
import { storageFaultReason, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { RESTORE_OPTIONS } from '../../application/store-options.ts';
import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { beginAlone, connect } from './connection.ts';
import { attempt, callBack, fileError, isLocked, storageError } from './errors.ts';
import { checkBackup, refuseNoBackup } from './examination.ts';
import {
  companionsOf,
  createFile,
  databaseFiles,
  foreignCompanion,
  fsync,
  missingFolders,
  modeOfNewFile,
  moveToNewName,
  realPath,
  refuseLogAlone,
  sizeOf,
  withPartialFile,
} from './files.ts';
import { anyVersionOf, beginEpoch, countRows, FIRST_VERSION, lastIdOf } from './schema.ts';

/** How long a restore waits for the lock, in milliseconds: long enough for a command that is just closing the store. */
const LOCK_TIMEOUT = 500;
/** The store and the copy can differ in schema version, so only their common columns are compared. */
const COMMON_COLUMNS = `SELECT group_concat(format('"%w"', name)) FROM (SELECT name FROM pragma_table_info('pets', 'main')
  INTERSECT SELECT name FROM pragma_table_info('pets', 'copy'))`;
const REVIVED_KEYS = `SELECT CAST(other.id AS TEXT) AS id, other.name, other.hint AS prefix
  FROM main.api_keys AS own JOIN copy.api_keys AS other USING (hash)
  WHERE (own.revoked_at IS NOT NULL OR own.expires_at < coalesce(other.expires_at, ${INT64_MAX}))
    AND other.revoked_at IS NULL AND (other.expires_at IS NULL OR other.expires_at > ?) ORDER BY other.id`;
const REVIVED_PETS = `copy.pets WHERE id IN (SELECT pet_id FROM main.pet_revisions) AND id NOT IN (SELECT id FROM main.pets)`;

/**
 * Replaces the store at `path` with the backup in `file`, and resolves when the restored store is durable. The store is unchanged
 * until a checked copy of the backup is renamed to `path`. The replaced store is kept beside the restored one, unless it equals the
 * backup and an earlier store is kept already. If the replaced store can be read, its ids are not assigned again.
 *
 * Rejects with `storage_unavailable` when another process has the store open, or when reading or writing fails. Rejects with
 * `invalid_request` when `file` is not a sound backup, or was written by a newer release. Rejects with `OverwriteRefused` when the
 * store has pets or cannot be read, and `overwrite` is not set.
 */
export async function restoreSqliteStore(
  path: string,
  file: string,
  options: RestoreOptions = {},
): Promise<Restored> {
  checkArgument('path', path, STRING);
  checkArgument('file', file, STRING);
  checkOptions(options, RESTORE_OPTIONS);
  const { overwrite = false, onProgress, signal } = options;
  const store = realPath(path);
  const folders = missingFolders(dirname(store));
  let old: Database.Database | undefined;
  let created = false;
  try {
    const source = refuseNoBackup(file, store);
    const stats = statSync(store, { throwIfNoEntry: false });
    // A missing file is created and locked, so that no server can create the store in the meantime. The file is not created if
    // the journal of an older store exists.
    created = companionsOf(store).length === 0 && createFile(store);
    old = lockStore(store, overwrite);
    return await withPartialFile(store, async (partial) => {
      await copyFile(realPath(file), partial, constants.COPYFILE_EXCL);
      callBack(() => onProgress?.(1));
      chmodSync(partial, (stats?.mode ?? modeOfNewFile(store)) & 0o777);
      const { uid, gid } = stats ?? source;
      // Without privileges, this fails if the new owner is another user.
      attempt(() => chownSync(partial, uid, gid), undefined);
      const contents = checkBackup(partial, file);
      const problems = [...contents.problems];
      const difference = compare(partial, old, problems);
      await fsync(partial);
      signal?.throwIfAborted();
      const { lost, revivedKeys } = difference;
      const hasAll = lost?.pets === 0 && lost.apiKeys === 0 && revivedKeys.length === 0;
      const versionIn = (name: string) => old?.pragma(`${name}.user_version`, { simple: true });
      const isSame =
        old && hasAll && versionIn('copy') === versionIn('main') && countRows(old, 'pets') === contents.pets;
      const kept = freeName(`${store}.before-restore`);
      // If an earlier store is kept already, a store that equals the backup is not kept.
      const setAside = isSame && kept.number > 1 ? [] : await keepDatabase(store, kept.name, old);
      await fsync(dirname(store), () => {
        if (stats !== undefined || old !== undefined) renameSync(partial, store);
        else moveToNewName(partial, store, () => inUse(store));
      });
      return { ...contents, ...difference, problems, location: store, bytes: sizeOf(store), setAside };
    });
  } catch (error) {
    if (created && old !== undefined && sizeOf(store) === 0) rmSync(store, { force: true });
    for (const folder of folders) attempt(() => rmdirSync(folder), undefined);
    throw signal?.aborted ? error : fileError(`cannot restore ${store}`, error);
  } finally {
    old?.close();
  }
}

/** Returns a connection that keeps other processes from opening the store, or `undefined` if SQLite cannot read the store. */
function lockStore(store: string, overwrite: boolean): Database.Database | undefined {
  if (statSync(store, { throwIfNoEntry: false })?.isFile() === false)
    throw invalidRequest(`${store} is not a regular file`);
  refuseLogAlone(store);
  const isJournalAlone = sizeOf(store) === 0 && companionsOf(store).length > 0;
  try {
    if (!isJournalAlone)
      return connect(store, { timeout: LOCK_TIMEOUT }, (db, pin) => lock(store, db, pin, overwrite));
  } catch (error) {
    if (storageFaultReason(storageError(error)) !== 'damaged') throw isLocked(error) ? inUse(store) : error;
  }
  if (overwrite) return undefined;
  throw new OverwriteRefused(`${store} cannot be read as a store`);
}

function lock(store: string, db: Database.Database, pin: () => void, overwrite: boolean): void {
  pin();
  beginAlone(db, 'memory');
  // The transaction must end before `db.backup` copies the file, but the lock stays. On an empty file, the transaction
  // stays open, because COMMIT would write a page.
  db.pragma('main.locking_mode = EXCLUSIVE');
  if (sizeOf(store) > 0) db.exec('COMMIT');
  const [companion] = companionsOf(store);
  if (companion !== undefined) throw foreignCompanion(companion);
  if (overwrite || anyVersionOf(db, store) === 0) return;
  const pets = attempt(() => countRows(db, 'pets'), undefined);
  if (pets === undefined) throw new OverwriteRefused(`${store} cannot be read as a store`);
  if (pets > 0) throw new OverwriteRefused(`${store} has ${pets} ${pets === 1 ? 'pet' : 'pets'}`);
}

function inUse(store: string): AnimalStoreError {
  return storageUnavailable(`${store} is in use by another process: stop the server before the restore`);
}

/**
 * Makes the ids of the copy continue after those of the replaced store, compares the two, and reports which parts of the
 * replaced store cannot be read.
 */
function compare(partial: string, old: Database.Database | undefined, problems: Problem[]) {
  const isNew = attempt(() => old && anyVersionOf(old, '') === 0, false);
  const readOld = <T>(message: string, read: (db: Database.Database) => T | undefined): T | undefined => {
    const found = attempt(() => old && read(old), undefined);
    if (found === undefined && !isNew) problems.push({ severity: 'warning', message });
    return found;
  };
  const lastId = continueIds(partial, (table) =>
    readOld(`ids of ${table} that the replaced store has assigned can be assigned again`, (db) =>
      [attempt(() => lastIdOf(db, table), lastIdOf(db, table, '(SELECT 0 AS id)'))].find(
        (id) => id < INT64_MAX,
      ),
    ),
  );
  const unreadPets = 'the pets of the replaced store cannot be read: the backup can lack some';
  const pets = readOld(unreadPets, (db) => {
    db.prepare('ATTACH ? AS copy').run(partial);
    const all = `SELECT ${db.prepare(COMMON_COLUMNS).pluck().get()} FROM`;
    return countRows(db, `(${all} main.pets EXCEPT ${all} copy.pets)`);
  });
  const unreadRemovals = 'the removals of the replaced store cannot be read: removed pets can be back';
  const revivedPets = readOld(unreadRemovals, (db) =>
    anyVersionOf(db, '') > FIRST_VERSION ? countRows(db, REVIVED_PETS) : 0,
  );
  const unread = 'the keys of the replaced store cannot be read: check that no revoked key is valid again';
  const keys = readOld(unread, (db) => ({
    missing: countRows(db, 'main.api_keys WHERE hash NOT IN (SELECT hash FROM copy.api_keys)'),
    revived: db.prepare<[number], RestoredKey>(REVIVED_KEYS).all(Date.now()),
  }));
  const lost = isNew ? undefined : { pets, apiKeys: keys?.missing };
  return { lastId, lost, revivedPets, revivedKeys: keys?.revived ?? [] };
}

/**
 * Prepares the copy, and makes its ids continue after those of the replaced store. Returns the greatest id or revision of the copy.
 */
function continueIds(partial: string, oldId: (table: 'pets' | 'api_keys') => bigint | undefined): bigint {
  using db = connect(partial);
  // The copy must be complete without a write-ahead log.
  db.pragma('journal_mode = DELETE');
  // The copy needs a new epoch, because the same backup can be restored twice.
  beginEpoch(db);
  for (const table of ['pets', 'api_keys'] as const) {
    const replaced = oldId(table) ?? 0n;
    // Deletes the row of the table first: `sqlite_sequence` has no primary key, so INSERT OR REPLACE would add a second row.
    if (replaced > lastIdOf(db, table))
      db.exec(`BEGIN; DELETE FROM sqlite_sequence WHERE name = '${table}';
        INSERT INTO sqlite_sequence VALUES ('${table}', ${replaced}); COMMIT`);
  }
  return lastIdOf(db);
}

/** Returns the first free name: a kept store, whose pets may be nowhere else, must not be overwritten. */
function freeName(first: string) {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!databaseFiles(name).some((file) => existsSync(file))) return { name, number };
  }
}

/**
 * Gives new names to the non-empty files of a database, and returns their new paths. The database file also keeps its old name, so
 * that no server creates a new store. Its companions, such as the write-ahead log, do not: SQLite would apply them to the restored
 * database.
 */
async function keepDatabase(path: string, kept: string, db: Database.Database | undefined) {
  const companions = companionsOf(path).map((file) => file.slice(path.length));
  const suffixes = sizeOf(path) > 0 ? ['', ...companions] : companions;
  await fsync(dirname(path), async () => {
    for (const suffix of companions) renameSync(path + suffix, kept + suffix);
    if (suffixes.includes('')) await linkOrCopy(path, kept, db);
  });
  return suffixes.map((suffix) => kept + suffix);
}

/** Copies the file if hard links fail. If `db` is given, SQLite copies it: `copyFileSync` would end the locks of this process. */
async function linkOrCopy(from: string, to: string, db: Database.Database | undefined): Promise<void> {
  try {
    linkSync(from, to);
  } catch {
    closeSync(openSync(to, 'wx', statSync(from).mode & 0o777));
    if (db === undefined) copyFileSync(from, to);
    else await db.backup(to);
    await fsync(to);
  }
}
