import { statSync } from 'node:fs';
import { CommandError, FileError } from './errors.ts';
import type { CliOptions } from './options.ts';
import { duration, number, Progress } from './progress.ts';
import { printResult } from './result.ts';
import { refuseStoreFile } from './store-files.ts';
import { visible } from './visible.ts';

export interface BackupFlags {
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Copies the whole store into a file. Other processes can write to the store during the copy. */
export async function backup(
  file: string,
  { force = false, json }: BackupFlags,
  databaseUrl: string | undefined,
  { console, signal, openStore, storeFiles }: CliOptions,
): Promise<void> {
  refuseStoreFile(file, file, await storeFiles(databaseUrl));
  if (!force && statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new FileError(`${file} exists already: --force replaces it`);
  }
  const store = await openStore(databaseUrl, { mustExist: true, forBackup: true });
  const progress = new Progress(console, 'pages');
  try {
    await store.backup(file, {
      overwrite: force,
      onProgress: (share) => progress.show({ title: 'Copying', share }),
      signal,
    });
  } catch (error) {
    throw signal.aborted ? new CommandError('interrupted; nothing was backed up') : error;
  } finally {
    progress.end();
    await store.close();
  }
  const { size } = statSync(file);
  const { elapsed } = progress;
  const done = `backed up to ${visible(file)}`;
  const text = json
    ? JSON.stringify({ file, bytes: size, milliseconds: Math.round(elapsed) })
    : `B${done.slice(1)}: ${number(size)} bytes in ${duration(elapsed)}.`;
  await printResult(console, `${text}\n`, done);
}
