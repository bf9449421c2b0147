import type { Stats } from 'node:fs';
import type Database from 'better-sqlite3';
import type { BackupContents } from '../../../application/ports/maintenance.ts';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import { invalidPetProblems } from '../../storage-kit/invalid-pets.ts';
import { codeOf } from '../../storage-kit/store-errors.ts';
import { openConnection } from '../driver.ts';
import { isFileOf, realPath, sizeOf, statOf } from '../files.ts';
import {
  assertSchema,
  contentsOf,
  damageOf,
  foreign,
  identify,
  invalidPets,
  unsupportedSchema,
} from '../inspection.ts';

/** Checks a backup of a store as a whole, and changes nothing. Throws `invalid_request` when it is not sound. */
export function examineSqliteBackup(store: string, file: string): BackupContents {
  refuseNoBackup(file, realPath(store));
  return checkBackup(file, file, 'integrity_check', 'query_only = ON');
}

export function refuseNoBackup(file: string, store: string): Stats {
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
    db = openConnection(path, { fileMustExist: true }).defaultSafeIntegers(true);
    const { isOwn, version } = identify(db);
    if (!isOwn) throw invalidRequest(`${file} is not a backup of a store, but ${foreign(db)}`);
    const unsupported = unsupportedSchema(file, version);
    if (unsupported !== undefined) throw invalidRequest(unsupported);
    const damage = damageOf(db, check);
    if (damage !== undefined) throw invalidRequest(`${file} is damaged: ${damage}`);
    assertSchema(db);
    db.pragma(pragma);
    return { ...contentsOf(db), problems: invalidPetProblems(invalidPets(db)) };
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
