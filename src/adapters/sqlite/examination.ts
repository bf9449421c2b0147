/** What a store and a backup contain, and what is wrong with them. Nothing is changed. */

import { type Stats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import type { BackupContents, Diagnosis, Problem } from '../../application/ports/maintenance.ts';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { idProblems } from '../storage-kit/ids-left.ts';
import { INVALID_PETS_LIMIT, invalidPetProblems } from '../storage-kit/invalid-pets.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import { connect, damageOf, OPEN_LOCK_TIMEOUT } from './database.ts';
import { storageError } from './errors.ts';
import { isFileOf, realPath, sizeOf } from './files.ts';
import { type PetRow, petOf } from './pets.ts';
import { APPLICATION_ID, contentsOf, countRows, INVALID_PETS, SCHEMA_VERSION, versionOf } from './schema.ts';

/** The free disk space below which there is a warning, and below which there is an error, in bytes. */
const LITTLE_SPACE = 100 * 1024 * 1024;
const NO_SPACE = 10 * 1024 * 1024;
const COUNT_KEYS = `SELECT count(*) AS total, count(*) FILTER (
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)) AS active FROM api_keys`;

type Facts = Omit<Diagnosis, 'location' | 'exists' | 'problems'>;

/** The facts about a file in which no server has created a store yet. */
const EMPTY: Facts = { isSound: true, schemaVersion: 0, pets: 0, apiKeys: { total: 0, active: 0 } };

/**
 * Examines the store at `path`, which a server may have open. Creates no store. Only a transaction that a crash has
 * interrupted is undone, as by every program that opens the file.
 */
export function examineSqliteStore(path: string): Diagnosis {
  const location = realPath(path);
  const stats = statSync(location, { throwIfNoEntry: false });
  const problems: Problem[] = [];
  const freeBytes = freeSpace(dirname(location), problems);
  const [exists, supportedSchemaVersion, bytes] = [stats !== undefined, SCHEMA_VERSION, stats?.size];
  const known = { location, exists, supportedSchemaVersion, bytes, freeBytes, problems };
  try {
    if (stats === undefined) throw new Error('there is no such file: the start of a server creates it');
    if (!stats.isFile()) throw new Error('it is not a regular file');
    return { ...known, ...readFacts(location, problems) };
  } catch (error) {
    const fault = storageError(error);
    problems.push({ severity: 'error', message: `${location}: ${fault.message}` });
    return storageFaultReason(fault) === 'damaged' ? { ...known, isSound: false } : known;
  }
}

/** Checks a backup of a store as a whole, and changes nothing. Throws `invalid_request` when it is not sound. */
export function examineSqliteBackup(store: string, file: string): BackupContents {
  refuseNoBackup(file, realPath(store));
  return checkBackup(file, file, 'integrity_check', 'query_only = ON');
}

export function refuseNoBackup(file: string, store: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw invalidRequest(`${file}: there is no such file`);
  if (!stats.isFile()) throw invalidRequest(`${file} is not a regular file`);
  if (isFileOf(store, file)) throw invalidRequest(`${file} belongs to the store`);
  const companion = [`${file}-wal`, `${file}-journal`].find((each) => sizeOf(each) > 0);
  if (companion === undefined) return stats;
  const advice = `make a backup of it, with animal-store backup --database-url sqlite:${file} NEW`;
  throw invalidRequest(
    `${companion} exists, so ${file} is not a backup, but a store or a copy of its files: ${advice}`,
  );
}

/**
 * Checks all pages of a backup.
 *
 * @param path the file or its copy, which leaves the journal mode WAL by default, so that it is complete without a log
 * @param file the name for messages
 */
export function checkBackup(
  path: string,
  file: string,
  check: 'quick_check' | 'integrity_check',
  pragma: 'journal_mode = DELETE' | 'query_only = ON' = 'journal_mode = DELETE',
): BackupContents {
  let db: Database.Database | undefined;
  try {
    db = connect(path, {}, () => {});
    const isOwn = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
    if (!isOwn || versionOf(db, file) === 0) throw invalidRequest(`${file} is not a backup of a store`);
    const damage = damageOf(db, check);
    if (damage !== undefined) throw invalidRequest(`${file} is damaged: ${damage}`);
    db.pragma(pragma);
    return { ...contentsOf(db), problems: invalidPets(db) };
  } catch (error) {
    const code = codeOf(error);
    if (asAnimalStoreError(error) !== undefined)
      throw invalidRequest((error as Error).message, { cause: error });
    if (!/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) throw error;
    const message = code === 'SQLITE_NOTADB' ? 'is not a backup of a store' : 'is damaged';
    throw invalidRequest(`${file} ${message} (${code})`, { cause: error });
  } finally {
    db?.close();
  }
}

function invalidPets(db: Database.Database): Problem[] {
  const rows = db.prepare<[number], PetRow>(INVALID_PETS).raw().all(INVALID_PETS_LIMIT);
  return invalidPetProblems(rows.map(petOf));
}

function freeSpace(folder: string, problems: Problem[]): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const message = `the disk of ${folder} has only ${Math.floor(free / 1024 / 1024)} MiB left`;
    if (free < LITTLE_SPACE) problems.push({ severity: free < NO_SPACE ? 'error' : 'warning', message });
    return free;
  } catch {
    return undefined;
  }
}

/**
 * A connection that may write removes its temporary files at its end, but it also copies a write-ahead log into the
 * store. Therefore only a store with a write-ahead log is opened for reading only.
 */
function readFacts(store: string, problems: Problem[]): Facts {
  const readonly = sizeOf(`${store}-wal`) > 0;
  if (sizeOf(store) === 0 && !readonly) return EMPTY;
  const db = connect(store, { readonly, timeout: OPEN_LOCK_TIMEOUT }, (each) =>
    each.pragma('query_only = ON'),
  );
  try {
    return factsOf(db, problems);
  } finally {
    db.close();
  }
}

function factsOf(db: Database.Database, problems: Problem[]): Facts {
  const schemaVersion = versionOf(db);
  const damage = damageOf(db, 'quick_check');
  if (damage !== undefined)
    throw new StorageFault('damaged', `the file is damaged: ${damage}: restore a backup`);
  if (schemaVersion === 0) return EMPTY;
  const { pets, lastId } = contentsOf(db);
  problems.push(...invalidPets(db), ...idProblems(lastId));
  const apiKeys = db.prepare<[number], Facts['apiKeys']>(COUNT_KEYS).safeIntegers(false).get(Date.now());
  const idempotencyRecords = schemaVersion === 1 ? undefined : countRows(db, 'idempotency_records');
  return { schemaVersion, isSound: true, pets, lastId, apiKeys, idempotencyRecords };
}
