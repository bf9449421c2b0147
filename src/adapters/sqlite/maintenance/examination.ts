import { accessSync, closeSync, constants, existsSync, openSync, readSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { idProblems } from '../../../application/ids-left.ts';
import type { Diagnosis, Problem } from '../../../application/ports/maintenance.ts';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { invalidPetProblems } from '../../storage-kit/invalid-pets.ts';
import { codeOf } from '../../storage-kit/store-errors.ts';
import { OPEN_LOCK_TIMEOUT, openConnection } from '../driver.ts';
import { storageError } from '../errors.ts';
import { databaseFiles, mountWarning, realPath, sizeOf, statOf } from '../files.ts';
import {
  assertSchema,
  countRows,
  foreign,
  identify,
  invalidPets,
  lastIdOf,
  quickCheck,
  unsupportedSchema,
} from '../inspection.ts';
import { MIGRATIONS } from '../schema.ts';

/** The free disk space, in bytes, below which there is a warning, and below which there is an error. */
const LITTLE_SPACE = 100 * 1024 * 1024;
const NO_SPACE = 10 * 1024 * 1024;

const SCHEMA_WITH_RECORDS = 2;

/** Selects only columns that every schema version has. */
const COUNT_KEYS = `SELECT count(*) AS total, count(*) FILTER (
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)) AS active FROM api_keys`;

type Facts = Omit<Diagnosis, 'location' | 'exists' | 'problems'>;

/** The facts about a file in which no server has created a store yet. */
const EMPTY: Facts = { isSound: true, schemaVersion: 0, pets: 0, apiKeys: { total: 0, active: 0 } };

type ReportProblem = (severity: Problem['severity'], message: string) => void;

/** Examines the store at `path`, which a server may have open. Changes nothing, and creates no store. */
export function examineSqliteStore(path: string): Diagnosis {
  const store = realPath(path);
  const problems: Problem[] = [];
  const report: ReportProblem = (severity, message) => problems.push({ severity, message });
  const stats = statOf(store);
  const folder = existingFolder(store);
  const freeBytes = examineSpace(folder, report);
  examineAccess(stats === undefined ? folder : dirname(store), report);
  let facts: Facts = {};
  examineDriver(report);
  if (!statOf(folder)?.isDirectory())
    report('error', `${store} cannot be created: ${folder} is not a folder: correct the path`);
  else if (stats === undefined)
    report('error', `${store}: there is no such file: the start of a server creates it`);
  else if (!stats.isFile()) report('error', `${store} is not a regular file`);
  else {
    examineAccess(store, report);
    const warning = mountWarning(store);
    if (warning !== undefined) report('warning', warning);
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

function examineSpace(folder: string, report: ReportProblem): number | undefined {
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

function examineAccess(path: string, report: ReportProblem): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const hint = 'run the command as the user of the server, or change the permissions';
    if (codeOf(error) === 'EROFS') report('error', `the file system of ${path} is read-only`);
    else report('error', `this user may not read and write ${path}: ${hint}`);
  }
}

function examineDriver(report: ReportProblem): void {
  try {
    openConnection(':memory:').close();
  } catch (error) {
    report('error', (error as Error).message);
  }
}

function examineMode(file: string, report: ReportProblem): void {
  const folderMode = statOf(dirname(file))?.mode ?? 0;
  if ((folderMode & 0o001) === 0) return;
  const mode = statOf(file)?.mode ?? 0;
  if (mode & 0o002) report('error', `every user of this machine may change ${file}: chmod o-w ${file}`);
  if (mode & 0o004) report('warning', `every user of this machine may read ${file}: chmod o-r ${file}`);
}

/**
 * A connection that may write removes its temporary files at its end, but it also copies a write-ahead log into the
 * store. Therefore only a store with a write-ahead log is opened for reading only.
 */
function readFacts(store: string, report: ReportProblem): Facts {
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
    db = openConnection(store, { readonly: hasLog, fileMustExist: true, timeout: OPEN_LOCK_TIMEOUT });
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

/** SQLite writes zeros in place of the header until a journal is durable, and ignores a journal with zeros. */
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

function factsOf(store: string, db: Database.Database, report: ReportProblem): Facts {
  const { isNew, isOwn, version: schemaVersion } = identify(db);
  if (!isNew && !isOwn) {
    report('error', `${store} is ${foreign(db)}`);
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
  assertSchema(db);
  const problems = [...invalidPetProblems(invalidPets(db)), ...idProblems(lastIdOf(db))];
  for (const { severity, message } of problems) report(severity, message);
  const facts: Facts = {
    schemaVersion,
    isSound: true,
    pets: countRows(db, 'pets'),
    lastId: lastIdOf(db),
    apiKeys: db.prepare<[number], Facts['apiKeys']>(COUNT_KEYS).safeIntegers(false).get(Date.now()),
    idempotencyRecords:
      schemaVersion < SCHEMA_WITH_RECORDS ? undefined : countRows(db, 'idempotency_records'),
  };
  return facts;
}
