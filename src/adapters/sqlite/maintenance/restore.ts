import { chmodSync, chownSync, createReadStream, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkArgument, checkOptions, STRING } from '../../../application/arguments.ts';
import type { Restored, RestoreOptions } from '../../../application/ports/maintenance.ts';
import { RESTORE_OPTIONS } from '../../../application/store-options.ts';
import { INT64_MAX } from '../../../domain/int64.ts';
import { createFolderOf } from '../database.ts';
import { openConnection } from '../driver.ts';
import { fileError } from '../errors.ts';
import { fsync, modeOfNewFile, realPath, withPartialFile } from '../files.ts';
import { checkBackup, refuseNoBackup } from './backup-check.ts';
import { ExclusiveStore } from './exclusive-store.ts';

/**
 * Replaces the store at `path` by the backup in `file`, and resolves when the restored store is durable. The store is
 * unchanged until a checked copy of the backup gets its name in one step. No id that the replaced store has assigned is
 * assigned again, if that store can be read.
 *
 * Rejects with `storage_unavailable` when another process has the store open, or when reading or writing fails. Rejects
 * with `invalid_request` when `file` is not a sound backup, or was written by a newer release. Rejects with
 * `OverwriteRefused` when the store has pets or cannot be read, and `overwrite` is not set.
 */
export async function restoreSqliteStore(
  path: string,
  file: string,
  options: RestoreOptions = {},
): Promise<Restored> {
  checkArgument('path', path, STRING);
  checkArgument('file', file, STRING);
  checkOptions(options, RESTORE_OPTIONS);
  const store = realPath(path);
  try {
    const source = refuseNoBackup(file, store);
    createFolderOf(store);
    const exclusive = new ExclusiveStore(store, options.overwrite ?? false);
    try {
      return await withPartialFile(store, async (partial) => {
        await copy(file, partial, source.size, options);
        chmodSync(partial, (exclusive.stats?.mode ?? modeOfNewFile(store)) & 0o777);
        adoptOwner(partial, exclusive.stats ?? source);
        const { problems, ...contents } = checkBackup(partial, file, 'quick_check');
        const lastId = continueIds(partial, contents.lastId, exclusive.lastId());
        fsync(partial);
        options.signal?.throwIfAborted();
        const setAside = exclusive.replaceBy(partial);
        fsync(dirname(store));
        return { ...contents, lastId, location: store, bytes: statSync(store).size, problems, setAside };
      });
    } finally {
      exclusive.release();
    }
  } catch (error) {
    throw options.signal?.aborted ? error : fileError(`cannot restore ${store}`, error);
  }
}

/**
 * Lets the copy in `path` go on behind the ids of the store that it replaces, unless that has assigned the last one. Returns
 * the id above which new pets get theirs.
 */
function continueIds(path: string, lastId: bigint, replaced: bigint): bigint {
  if (replaced <= lastId || replaced === INT64_MAX) return lastId;
  const db = openConnection(path, { fileMustExist: true });
  try {
    // Rows of AUTOINCREMENT tables exist once a table has had a row, and have no key.
    db.transaction(() => {
      db.exec("DELETE FROM sqlite_sequence WHERE name = 'pets'");
      db.prepare("INSERT INTO sqlite_sequence VALUES ('pets', ?)").run(replaced);
    })();
  } finally {
    db.close();
  }
  return replaced;
}

async function copy(
  file: string,
  partial: string,
  size: number,
  { onProgress, signal }: RestoreOptions,
): Promise<void> {
  const target = await open(partial, 'wx', 0o600);
  try {
    let done = 0;
    for await (const chunk of createReadStream(file)) {
      signal?.throwIfAborted();
      await target.appendFile(chunk);
      done += chunk.length;
      onProgress?.(Math.min(1, done / size));
    }
  } finally {
    await target.close();
  }
}

/** Ignores an error, because only a privileged user can give a file to another user. */
function adoptOwner(partial: string, { uid, gid }: Stats): void {
  try {
    chownSync(partial, uid, gid);
  } catch {}
}
