import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BackupOptions } from '../../../application/ports/storage.ts';
import { openReader } from '../database.ts';
import { codeOf, fileError } from '../errors.ts';
import { fsync, modeOfNewFile, withPartialFile } from '../files.ts';
import { backupTarget, moveToTarget } from './backup-target.ts';

/** The number of database pages of 4 KiB that are copied in one iteration of the event loop. */
const PAGES_PER_STEP = 1000;

/** Matches the read errors: a backup reads only the store and writes only the copy, so the store is at fault. */
const FAULTS_OF_SOURCE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_)?READ)/;

/** Copies the store to `file`, as `Storage.backup` describes. The copy has a temporary name until it is complete. */
export async function backUp(
  path: string,
  file: string,
  { overwrite = false, onProgress }: BackupOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    const target = backupTarget(file, path, overwrite);
    await withPartialFile(target.path, async (partial) => {
      closeSync(openSync(partial, 'wx', modeOfNewFile(partial)));
      await copy(path, partial, onProgress, signal);
      fsync(partial);
      moveToTarget(partial, target);
      fsync(dirname(target.path));
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const failed = FAULTS_OF_SOURCE.test(codeOf(error)) ? `cannot read ${path}` : `cannot write ${file}`;
    throw fileError(failed, error);
  }
}

/** Copies in one read transaction, because SQLite would otherwise restart after each write of another connection. */
async function copy(
  path: string,
  partial: string,
  onProgress: BackupOptions['onProgress'],
  signal: AbortSignal,
): Promise<void> {
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
  } finally {
    db.close();
  }
}
