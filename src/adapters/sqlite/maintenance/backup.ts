/** Copies the database file of a store. The copy has a temporary name until it is complete. */

import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type BackupOptions, closedError } from '../../../application/ports/storage.ts';
import { openReader } from '../database.ts';
import { codeOf, fileError } from '../errors.ts';
import { fsync, modeOfNewFile, withPartialFile } from '../files.ts';
import { BackupTarget } from './backup-target.ts';

/** The number of database pages that a backup copies in one iteration of the event loop. A page has 4 KiB. */
const PAGES_PER_STEP = 1000;

/**
 * Matches the SQLite error codes that mean that the store, and not the copy, is at fault. A backup reads only the store
 * and writes only the copy, so every read error is a fault of the store.
 */
const FAULTS_OF_SOURCE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_)?READ)/;

/** The backups of one open store. */
export class Backups {
  readonly #path: string;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Copies the store to `file`, as `Storage.backup` describes. */
  async create(file: string, options: BackupOptions = {}): Promise<void> {
    const signals = [this.#closing.signal, options.signal].filter((signal) => signal !== undefined);
    const backup = backUp(this.#path, file, options, AbortSignal.any(signals));
    this.#running.add(backup);
    try {
      await backup;
    } finally {
      this.#running.delete(backup);
    }
  }

  /** Ends the running backups. Resolves when their incomplete files are removed. */
  async close(): Promise<void> {
    this.#closing.abort(closedError());
    await Promise.allSettled(this.#running);
  }
}

async function backUp(
  path: string,
  file: string,
  { overwrite = false, onProgress }: BackupOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    const target = new BackupTarget(file, path, overwrite);
    await withPartialFile(target.path, async (partial) => {
      closeSync(openSync(partial, 'wx', modeOfNewFile(partial)));
      await copy(path, partial, onProgress, signal);
      fsync(partial);
      target.moveHere(partial);
      fsync(dirname(target.path));
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const failed = FAULTS_OF_SOURCE.test(codeOf(error)) ? `cannot read ${path}` : `cannot write ${file}`;
    throw fileError(failed, error);
  }
}

/**
 * Copies all pages in one read transaction, so that all pages belong to the same state of the store. Without the read
 * transaction, SQLite would restart the copy after each write of another connection.
 */
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
