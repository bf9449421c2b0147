import { accessSync, constants, existsSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BackupContents, Diagnosis, Problem } from '../../application/ports/maintenance.ts';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { idProblems, invalidPetProblems } from '../storage-kit/problems.ts';
import { connectToRead } from './connection.ts';
import { damageOf } from './database.ts';
import { attempt, storageError } from './errors.ts';
import { companionsOf, isFileOf, partialsOf, realPath, refuseLogAlone, sizeOf } from './files.ts';
import { APPLICATION_ID, contentsOf, countRows, readPets, SCHEMA_VERSION, versionOf } from './schema.ts';

/** The free disk space below which there is a warning, and below which there is an error, in MiB. */
const [LITTLE_SPACE, NO_SPACE] = [100, 10];
const COUNT_KEYS = `SELECT count(*) AS total, count(*) FILTER (
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)) AS active FROM api_keys`;

type Facts = Omit<Diagnosis, 'location' | 'exists' | 'problems'>;

/** Examines a store, which a server may have open. Changes it only to roll back a transaction that a crash has interrupted. */
export function examineSqliteStore(path: string): Diagnosis {
  const location = realPath(path);
  const problems: Problem[] = [];
  let known: Diagnosis = { location, exists: undefined, problems };
  try {
    const stats = statSync(location, { throwIfNoEntry: false });
    const files = [location, ...companionsOf(location)];
    const bytes = stats && files.reduce((sum, file) => sum + sizeOf(file), 0);
    const [exists, freeBytes] = [stats !== undefined, freeSpace(dirname(location), problems)];
    known = { location, exists, supportedSchemaVersion: SCHEMA_VERSION, bytes, freeBytes, problems };
    problems.push(...accessProblems([...files, dirname(location)]), ...partialProblems(location));
    if (stats === undefined) {
      refuseLogAlone(location);
      const advice =
        files.length > 1 ? 'put it back, or restore a backup' : 'the start of a server creates it';
      throw new Error(`there is no such file: ${advice}`);
    }
    if (!stats.isFile()) throw new Error('it is not a regular file');
    return { ...known, ...readFacts(location, problems) };
  } catch (error) {
    const fault = storageError(error);
    problems.push({ severity: 'error', message: `${location}: ${fault.message}` });
    return storageFaultReason(fault) === 'damaged' ? { ...known, isSound: false } : known;
  }
}

/** A server starts only if it may write to all of these paths. */
function accessProblems(paths: readonly string[]): Problem[] {
  const isRefused = (path: string) =>
    attempt(() => accessSync(path, constants.W_OK) !== undefined, existsSync(path));
  const refused = paths.filter(isRefused);
  return refused.map((path) => ({ severity: 'error', message: `${path}: this user may not write to it` }));
}

/** Checks the whole backup of a store, and changes nothing. Throws `invalid_request` when the backup is not sound. */
export function examineSqliteBackup(store: string, file: string): BackupContents {
  refuseNoBackup(file, realPath(store));
  const contents = checkBackup(file, file);
  return { ...contents, problems: [...contents.problems, ...partialProblems(file)] };
}

/** A killed process leaves the incomplete copy of a backup or a restore, or the hard link through which it opened the store. */
function partialProblems(path: string): Problem[] {
  const advice = 'is the rest of a killed backup, restore or start: remove it, unless one is running';
  return partialsOf(path).map((file) => ({ severity: 'warning', message: `${file} ${advice}` }));
}

export function refuseNoBackup(file: string, store: string): Stats {
  const real = realPath(file);
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined) throw invalidRequest(`${file}: there is no such file`);
  if (!stats.isFile()) throw invalidRequest(`${file} is not a regular file`);
  if (isFileOf(store, file)) throw invalidRequest(`${file} belongs to the store`);
  const [companion] = companionsOf(real);
  if (companion === undefined) return stats;
  const advice = `make a backup of it, with animal-store backup --database-url sqlite:${file} NEW`;
  const reason = `${companion} exists, so ${file} is not a backup, but a store or a copy of its files`;
  throw invalidRequest(`${reason}: ${advice}`);
}

/** Checks all pages of the backup at `path`. The messages call it `file`. */
export function checkBackup(path: string, file: string): BackupContents {
  try {
    using db = connectToRead(path);
    const isOwn = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
    if (!isOwn || versionOf(db, file) === 0) throw invalidRequest(`${file} is not a backup of a store`);
    const damage = damageOf(db, 'integrity');
    if (damage !== undefined) throw invalidRequest(`${file} is damaged: ${damage}`);
    return { ...contentsOf(db), problems: invalidPetProblems(readPets(db)) };
  } catch (error) {
    const known = storageError(error);
    if (known === error) throw invalidRequest(known.message, { cause: error });
    if (!['damaged', undefined].includes(storageFaultReason(known))) throw error;
    throw invalidRequest(`${file} is not a backup of a store: ${known.message}`, { cause: error });
  }
}

function freeSpace(folder: string, problems: Problem[]): number | undefined {
  return attempt(() => {
    const { bavail, bsize } = statfsSync(folder);
    const free = Math.floor((bavail * bsize) / 1024 / 1024);
    const message = `the disk of ${folder} has only ${free} MiB left`;
    if (free < LITTLE_SPACE) problems.push({ severity: free < NO_SPACE ? 'error' : 'warning', message });
    return bavail * bsize;
  }, undefined);
}

function readFacts(store: string, problems: Problem[]): Facts {
  using db = connectToRead(store);
  const schemaVersion = versionOf(db);
  const damage = damageOf(db, 'quick');
  if (damage !== undefined)
    throw new StorageFault('damaged', `the file is damaged: ${damage}: restore a backup`);
  if (schemaVersion === 0)
    throw new Error('the file contains no store: restore a backup, or start a server to create one');
  const { pets, lastId } = contentsOf(db);
  problems.push(...invalidPetProblems(readPets(db)), ...idProblems(lastId));
  const apiKeys = db.prepare<[number], Facts['apiKeys']>(COUNT_KEYS).safeIntegers(false).get(Date.now());
  const idempotencyRecords = countRows(db, 'idempotency_records');
  return { schemaVersion, isSound: true, pets, lastId, apiKeys, idempotencyRecords };
}
