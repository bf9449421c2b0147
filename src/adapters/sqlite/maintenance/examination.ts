/** Examines the files of a store, and reads its facts. Changes nothing, and creates no store. */

import { accessSync, closeSync, constants, existsSync, openSync, readSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Diagnosis, Problem } from '../../../application/ports/maintenance.ts';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { isActive } from '../../../domain/api-key.ts';
import { OPEN_LOCK_TIMEOUT } from '../database.ts';
import { codeOf, storageError } from '../errors.ts';
import { databaseFiles, realPath, sizeOf, statOf } from '../files.ts';
import { assertTables, identify, quickCheck, unsupportedSchema } from '../inspection.ts';
import { MIGRATIONS } from '../schema.ts';

/** The free disk space, in bytes, below which there is a warning, and below which there is an error. */
const LITTLE_SPACE = 100 * 1024 * 1024;
const NO_SPACE = 10 * 1024 * 1024;

/** The first schema version that has records of idempotency keys. */
const SCHEMA_WITH_RECORDS = 2;

type Facts = Pick<Diagnosis, 'schemaVersion' | 'isSound' | 'pets' | 'apiKeys' | 'idempotencyRecords'>;

/** The facts about a file in which no server has created a store yet. */
const EMPTY: Facts = { isSound: true, schemaVersion: 0, pets: 0, apiKeys: { total: 0, active: 0 } };

/** Adds a problem to the report of an examination. */
type Report = (severity: Problem['severity'], message: string) => void;

/** Examines the store at `path`, which a server may have open. */
export function examineSqliteStore(path: string): Diagnosis {
  const store = realPath(path);
  const problems: Problem[] = [];
  const report: Report = (severity, message) => problems.push({ severity, message });
  const stats = statOf(store);
  const folder = existingFolder(store);
  const freeBytes = examineSpace(folder, report);
  examineAccess(stats === undefined ? folder : dirname(store), report);
  let facts: Facts = {};
  if (stats === undefined)
    report('error', `${store}: there is no such file: the start of a server creates it`);
  else if (!stats.isFile()) report('error', `${store} is not a regular file`);
  else {
    examineAccess(store, report);
    for (const file of databaseFiles(path)) examineMode(file, report);
    facts = readFacts(store, report);
  }
  return {
    location: store,
    exists: stats !== undefined,
    supportedSchemaVersion: MIGRATIONS.length,
    bytes: stats?.size,
    freeBytes,
    ...facts,
    problems,
  };
}

/** Returns the folder of a file, or the nearest of its parents that exists. */
function existingFolder(file: string): string {
  const folder = dirname(file);
  return existsSync(folder) || folder === file ? folder : existingFolder(folder);
}

function examineSpace(folder: string, report: Report): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const message = `the disk of ${folder} has only ${Math.floor(free / 1024 / 1024)} MiB left`;
    if (free < NO_SPACE) report('error', message);
    else if (free < LITTLE_SPACE) report('warning', message);
    return free;
  } catch {
    return undefined;
  }
}

/** Checks that this user can write to a file or a folder. SQLite creates files in the folder of the store. */
function examineAccess(path: string, report: Report): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    report(
      'error',
      codeOf(error) === 'EROFS'
        ? `the file system of ${path} is read-only`
        : `this user may not read and write ${path}: run the command as the user of the server, or change the permissions`,
    );
  }
}

function examineMode(file: string, report: Report): void {
  const isReachable = ((statOf(dirname(file))?.mode ?? 0) & 0o001) !== 0;
  if (!isReachable) return;
  const mode = statOf(file)?.mode ?? 0;
  if (mode & 0o002) report('error', `every user of this machine may change ${file}: chmod o-w ${file}`);
  if (mode & 0o004) report('warning', `every user of this machine may read ${file}: chmod o-r ${file}`);
}

/**
 * Reads the facts of a store. A connection that may write removes its temporary files at its end, but it also copies a
 * write-ahead log into the store. Therefore a store with a write-ahead log is opened for reading only.
 */
function readFacts(store: string, report: Report): Facts {
  if (isHot(`${store}-journal`)) {
    report('warning', `${store}-journal has an unfinished transaction: the next start of a server undoes it`);
    return {};
  }
  const hasLog = sizeOf(`${store}-wal`) > 0;
  if (sizeOf(store) === 0) {
    if (!hasLog) return EMPTY;
    report('error', `${store} is empty, but has a write-ahead log: restore a backup`);
    return { isSound: false };
  }
  let db: Database.Database | undefined;
  try {
    db = new Database(store, { readonly: hasLog, fileMustExist: true, timeout: OPEN_LOCK_TIMEOUT });
    db.defaultSafeIntegers(true).pragma('query_only = ON');
    return factsOf(store, db, report);
  } catch (error) {
    const known = storageError(error);
    report('error', `${store}: ${known.message}`);
    return storageFaultReason(known) === 'damaged' ? { isSound: false } : {};
  } finally {
    db?.close();
  }
}

/**
 * Whether a rollback journal has a transaction that SQLite undoes. SQLite writes zeros in place of the header until the
 * journal is durable, and changes the database file only after that. When a process ends before, its journal stays, and
 * SQLite ignores it.
 */
function isHot(journal: string): boolean {
  if (sizeOf(journal) === 0) return false;
  const header = Buffer.alloc(1);
  try {
    const descriptor = openSync(journal, 'r');
    try {
      readSync(descriptor, header);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return true;
  }
  return header[0] !== 0;
}

function factsOf(store: string, db: Database.Database, report: Report): Facts {
  const { isNew, isOwn, version: schemaVersion } = identify(db);
  if (!isNew && !isOwn) {
    report('error', `${store} is the database of another application`);
    return {};
  }
  const unsupported = unsupportedSchema(store, schemaVersion);
  if (unsupported !== undefined) report('error', unsupported);
  const damage = quickCheck(db, Number.POSITIVE_INFINITY);
  if (damage !== undefined) {
    report('error', `${store} is damaged: ${damage}: restore a backup`);
    return { schemaVersion, isSound: false };
  }
  if (isNew) return EMPTY;
  if (schemaVersion === MIGRATIONS.length) assertTables(db);
  const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  const pets = count('pets');
  const idempotencyRecords = schemaVersion < SCHEMA_WITH_RECORDS ? undefined : count('idempotency_records');
  return { schemaVersion, isSound: true, pets, apiKeys: countKeys(db), idempotencyRecords };
}

/** Counts the keys. Selects only columns that every schema version has. */
function countKeys(db: Database.Database): Diagnosis['apiKeys'] {
  const columns = 'expires_at AS expiresAt, revoked_at AS revokedAt';
  const rows = db.prepare(`SELECT ${columns} FROM api_keys`).safeIntegers(false).all() as {
    expiresAt: number | null;
    revokedAt: number | null;
  }[];
  const now = Date.now();
  const active = rows.filter(({ expiresAt, revokedAt }) =>
    isActive({ expiresAt: expiresAt ?? undefined, revokedAt: revokedAt ?? undefined }, now),
  );
  return { total: rows.length, active: active.length };
}
