import { CommandError } from '../errors.ts';
import type { CommandOptions, ReplaceFlags } from '../options.ts';
import { counted, duration } from '../output/format.ts';
import { Progress } from '../output/progress.ts';
import { printResult } from '../output/result.ts';
import { visible } from '../output/visible.ts';

/** Replaces the store by a backup. The store must not be in use. */
export async function restore(
  file: string,
  { force = false, json }: ReplaceFlags,
  { console, signal, databaseUrl, restoreStore }: CommandOptions,
): Promise<void> {
  const progress = new Progress(console);
  const onProgress = (share: number): void => progress.show({ title: 'Copying', share });
  const restored = await restoreStore(databaseUrl, file, { overwrite: force, onProgress, signal })
    .catch((error: unknown) => {
      throw signal.aborted ? new CommandError('interrupted; nothing was restored') : error;
    })
    .finally(() => progress.end());
  const { elapsed } = progress;
  const { location, bytes, pets, apiKeys, setAside } = restored;
  const contents = `${counted(pets, 'pet')} and ${counted(apiKeys, 'key')}`;
  const done = `restored ${location}`;
  const details = ` from ${file}: ${contents} in ${duration(elapsed)}`;
  const milliseconds = Math.round(elapsed);
  const members = { store: location, bytes, pets, apiKeys, setAside, milliseconds };
  await printResult(console, { done, details, members }, json);
  for (const path of setAside) console.err(`The unreadable store is kept in ${visible(path)}\n`);
}
