import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BackupContents, BackupOptions } from '../../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../../application/ports/storage-fault.ts';
import { codeOf } from '../../storage-kit/store-errors.ts';
import { openReader } from '../database.ts';
import { fileError } from '../errors.ts';
import { fsync, modeOfNewFile, withPartialFile } from '../files.ts';
import { contentsOf } from '../inspection.ts';
import { checkBackup } from './backup-check.ts';
import { backupTarget, moveToTarget } from './backup-target.ts';

/** The number of database pages of 4 KiB that are copied in one iteration of the event loop. */
const PAGES_PER_STEP = 1000;

/** Matches the read errors: a backup reads only the store and writes only the copy, so the store is at fault. */
const FAULTS_OF_SOURCE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_)?READ)/;

/**
 * Copies the store to `file`, as `Storage.backup` describes. The copy has a temporary name until it is complete. Resolves
 * with its contents if it was verified: a copy that is not sound never replaces an older one.
 */
export async function backUp(
  path: string,
  file: string,
  { overwrite = false, onProgress, onVerified }: BackupOptions,
  signal: AbortSignal,
): Promise<BackupContents | undefined> {
  try {
    const target = backupTarget(file, path, overwrite);
    return await withPartialFile(target.path, async (partial) => {
      closeSync(openSync(partial, 'wx', modeOfNewFile(partial)));
      const isVerified = onVerified !== undefined;
      const original = await copy(path, partial, onProgress, signal, isVerified);
      const contents = original && verify(partial, file, original);
      fsync(partial);
      moveToTarget(partial, target);
      fsync(dirname(target.path));
      return contents;
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const failed = FAULTS_OF_SOURCE.test(codeOf(error)) ? `cannot read ${path}` : `cannot write ${file}`;
    throw fileError(failed, error);
  }
}

type Contents = Omit<BackupContents, 'problems'>;

function verify(partial: string, file: string, original: Contents): BackupContents {
  let reason: string;
  try {
    const { problems, ...contents } = checkBackup(partial, 'the copy', 'integrity_check');
    if (isDeepStrictEqual(contents, original)) return { ...contents, problems };
    const numbers = ({ pets, apiKeys, lastId }: Contents) =>
      `${pets} pets up to id ${lastId} and ${apiKeys} keys`;
    reason = `the copy has ${numbers(contents)}, the store ${numbers(original)}`;
  } catch (error) {
    reason = (error as Error).message;
  }
  throw storageUnavailable(
    `${file} was not written: ${reason}. Look at the store with animal-store doctor, and at the disk`,
  );
}

/** Copies in one read transaction, because SQLite would otherwise restart after each write of another connection. */
async function copy(
  path: string,
  partial: string,
  onProgress: BackupOptions['onProgress'],
  signal: AbortSignal,
  isVerified: boolean,
): Promise<Contents | undefined> {
  const db = openReader(path);
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
    return isVerified ? contentsOf(db) : undefined;
  } finally {
    db.close();
  }
}
