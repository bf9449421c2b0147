import { OverwriteRefused } from '../../application/ports/maintenance.ts';
import { CommandError, FileError } from './errors.ts';
import type { CliOptions } from './options.ts';
import { counted, duration, Progress } from './progress.ts';
import { printResult } from './result.ts';
import { refuseStoreFile } from './store-files.ts';
import { visible } from './visible.ts';

export interface RestoreFlags {
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Replaces the store by a backup. The store must not be in use. */
export async function restore(
  file: string,
  { force = false, json }: RestoreFlags,
  databaseUrl: string | undefined,
  { console, signal, restoreStore, storeFiles }: CliOptions,
): Promise<void> {
  refuseStoreFile(file, file, await storeFiles(databaseUrl));
  const progress = new Progress(console, 'bytes');
  const onProgress = (share: number): void => progress.show({ title: 'Copying', share });
  const restored = await restoreStore(databaseUrl, file, { overwrite: force, onProgress, signal })
    .catch((error: unknown) => {
      if (signal.aborted) throw new CommandError('interrupted; nothing was restored');
      if (error instanceof OverwriteRefused) throw new FileError(`${error.message}: --force replaces it`);
      throw error;
    })
    .finally(() => progress.end());
  const { location, bytes, pets, apiKeys, setAside } = restored;
  const done = `restored ${visible(location)}`;
  const counts = `${counted(pets, 'pet')} and ${counted(apiKeys, 'key')}`;
  const text = json
    ? JSON.stringify({
        store: location,
        bytes,
        pets,
        apiKeys,
        setAside,
        milliseconds: Math.round(progress.elapsed),
      })
    : `R${done.slice(1)} from ${visible(file)}: ${counts} in ${duration(progress.elapsed)}.`;
  await printResult(console, `${text}\n`, done);
  for (const path of setAside) console.err(`The unreadable store is kept in ${visible(path)}\n`);
}
