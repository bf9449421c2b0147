import { on } from 'node:events';
import { closeSync, existsSync, lstatSync, openSync, renameSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import {
  type BackupContents,
  type BackupOptions,
  OverwriteRefused,
} from '../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { untilAborted } from '../../application/until-aborted.ts';
import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import type { Copy, CopyMessage } from './backup-thread.ts';
import { callBack, errorFrom, fileError } from './errors.ts';
import {
  assertSameFiles,
  databaseFiles,
  fsync,
  isFileOf,
  modeOfNewFile,
  moveToNewName,
  realPath,
  type StoreFiles,
  withPartialFile,
} from './files.ts';
import { endThread, startThread } from './threads.ts';

/** Matches the names of standard streams and of other open files. */
const STREAM = /^(-|\/dev\/std(in|out|err)|\/dev\/fd\/.*|\/proc\/.*)$/;

/**
 * Copies the store to `file`, as `Storage.backup` describes. The copy has a temporary name until it is complete. With `onVerified`,
 * verifies the copy before it replaces an older one, and resolves with the contents of the copy.
 */
export async function backUp(
  files: StoreFiles,
  file: string,
  options: BackupOptions,
  signal: AbortSignal,
): Promise<BackupContents | undefined> {
  const { overwrite = false } = options;
  const [[store]] = files;
  try {
    if (STREAM.test(file) || file.endsWith('/') || file.endsWith(sep)) throw notAFile(file);
    const target = realPath(file);
    const stats = lstatSync(target, { throwIfNoEntry: false });
    if (isFileOf(store, target)) throw invalidRequest(`${file} belongs to the store`);
    assertUnused(target);
    if (stats?.isFile() === false) throw notAFile(file);
    if (stats !== undefined && !overwrite) throw existing(file);
    assertSameFiles(files);
    return await withPartialFile(target, async (partial) => {
      closeSync(openSync(partial, 'wx', modeOfNewFile(partial)));
      const about = { store, partial, file, isVerified: options.onVerified !== undefined };
      const contents = await copy(about, options, signal);
      await untilAborted(fsync(partial), signal);
      await fsync(dirname(target), () => {
        signal.throwIfAborted();
        assertSameFiles(files);
        assertUnused(target);
        if (overwrite) renameSync(partial, target);
        else moveToNewName(partial, target, () => existing(file));
      });
      return contents;
    });
  } catch (error) {
    signal.throwIfAborted();
    throw fileError(`cannot back up ${store} to ${file}`, error);
  }
}

/**
 * Refuses a target with companion files. Even an empty companion file can belong to a running server, and SQLite would apply the
 * log of another file to the backup.
 */
function assertUnused(target: string): void {
  const companion = databaseFiles(target).slice(1).find(existsSync);
  if (companion) throw invalidRequest(`${companion} exists: a server may have ${target} open as its store`);
}

function existing(file: string): AnimalStoreError {
  return new OverwriteRefused(`${file} exists already`);
}

function notAFile(file: string): AnimalStoreError {
  return invalidRequest(`${file} is not a regular file: a backup needs the path of a file`);
}

/** Waits until the thread has exited, because the caller must not remove the file while the thread writes to it. */
async function copy(about: Copy, { onProgress }: BackupOptions, signal: AbortSignal) {
  const thread = startThread('backup-thread', about);
  try {
    for await (const [message] of on(thread, 'message', { signal, close: ['exit'] })) {
      const copied = message as CopyMessage;
      if ('code' in copied) throw errorFrom(copied);
      if ('contents' in copied) return copied.contents;
      callBack(() => onProgress?.(copied.share));
    }
    throw storageUnavailable('the thread of the backup exited');
  } finally {
    await endThread(thread);
  }
}
