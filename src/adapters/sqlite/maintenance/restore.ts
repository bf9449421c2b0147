import { chmodSync, chownSync, createReadStream, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkArgument, checkOptions, STRING } from '../../../application/arguments.ts';
import type { Restored, RestoreOptions } from '../../../application/ports/maintenance.ts';
import { RESTORE_OPTIONS } from '../../../application/store-options.ts';
import { createFolderOf } from '../database.ts';
import { fileError } from '../errors.ts';
import { fsync, modeOfNewFile, realPath, withPartialFile } from '../files.ts';
import { checkBackup, refuseNoBackup } from './backup-check.ts';
import { ExclusiveStore } from './exclusive-store.ts';

/**
 * Replaces the store at `path` by the backup in `file`, and resolves when the restored store is durable. The store is
 * unchanged until a checked copy of the backup gets its name in one step.
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
        const { pets, apiKeys, problems } = checkBackup(partial, file, 'quick_check');
        fsync(partial);
        options.signal?.throwIfAborted();
        const setAside = exclusive.replaceBy(partial);
        fsync(dirname(store));
        return { location: store, bytes: statSync(store).size, pets, apiKeys, problems, setAside };
      });
    } finally {
      exclusive.release();
    }
  } catch (error) {
    throw options.signal?.aborted ? error : fileError(`cannot restore ${store}`, error);
  }
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
