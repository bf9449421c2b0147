/** The thread of a backup, which copies the store and checks the copy. */

import { isDeepStrictEqual } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import type { BackupContents } from '../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { connect } from './connection.ts';
import { openSource } from './database.ts';
import { fileError, type PlainError, plainError } from './errors.ts';
import { checkBackup } from './examination.ts';
import { beginEpoch, contentsOf } from './schema.ts';
import { receive } from './threads.ts';

/** A store, and the temporary name of its copy. The copy is renamed to `file` at the end. */
export interface Copy {
  readonly store: string;
  readonly partial: string;
  readonly file: string;
  readonly isVerified: boolean;
}

/** The progress, the end or the failure of the copy. */
export type CopyMessage =
  | { readonly share: number }
  | { readonly contents: BackupContents | undefined }
  | PlainError;

/** The number of database pages of 4 KiB that are copied in one step. */
const PAGES_PER_STEP = 1000;

const { store, partial, file, isVerified } = workerData as Copy;
let isCancelled = false;

receive(() => {
  isCancelled = true;
});
try {
  send({ contents: await makeCopy() });
} catch (error) {
  send(plainError(fileError(`cannot back up ${store} to ${file}`, error)));
}

function send(message: CopyMessage): void {
  parentPort?.postMessage(message);
}

/** Copies in one read transaction, because SQLite would otherwise restart the copy after each write of another connection. */
async function makeCopy(): Promise<BackupContents | undefined> {
  using db = openSource(store);
  db.exec('BEGIN');
  db.prepare('SELECT count(*) FROM sqlite_schema').get();
  await db.backup(partial, {
    progress({ totalPages, remainingPages }) {
      if (isCancelled) throw new Error('the backup was cancelled');
      if (totalPages > 0) send({ share: 1 - remainingPages / totalPages });
      return PAGES_PER_STEP;
    },
  });
  // The copy leaves WAL mode, because SQLite cannot read a file in WAL mode from a folder in which it cannot write.
  const copy = connect(partial);
  copy.pragma('journal_mode = DELETE');
  beginEpoch(copy);
  copy.close();
  return isVerified ? verify(contentsOf(db)) : undefined;
}

function verify(original: Omit<BackupContents, 'problems'>): BackupContents {
  try {
    const { problems, ...contents } = checkBackup(partial, 'the copy');
    if (isDeepStrictEqual(contents, original)) return { ...contents, problems };
    throw new Error('the copy has other contents than the store');
  } catch (error) {
    const advice = 'look at the store with animal-store doctor, and at the disk';
    throw storageUnavailable(`${file} was not written: ${(error as Error).message}: ${advice}`, error);
  }
}
