import { statSync } from 'node:fs';
import type { BackupContents, BackupOptions } from '../../../application/ports/maintenance.ts';
import { visible } from '../../../domain/visible.ts';
import { CommandError } from '../errors.ts';
import type { CommandOptions, ReplaceFlags } from '../options.ts';
import { printResult } from '../output/console.ts';
import { contentsText, counted, duration, number } from '../output/format.ts';
import { Progress } from '../output/progress.ts';
import { withStore } from './store.ts';

export async function backup(file: string, flags: ReplaceFlags, options: CommandOptions): Promise<void> {
  const { result: verified, elapsed } = await copied(flags, options, 'backed up', (how) =>
    withStore(options, 'backup', async (store) => {
      let contents: BackupContents | undefined;
      const onVerified = (found: BackupContents): void => {
        contents = found;
      };
      await store.backup(file, flags.verify ? { ...how, onVerified } : how);
      return contents;
    }),
  );
  const { size } = statSync(file);
  const done = `backed up to ${file}`;
  const found = verified && `, verified: ${contentsText(verified)}, as in the store`;
  const details = `: ${number(size)} bytes in ${duration(elapsed)}${found ?? ''}`;
  const { pets, apiKeys, lastId, problems = [] } = verified ?? {};
  const facts = verified && { verified: problems.length === 0, pets, apiKeys, lastId: String(lastId) };
  const members = { file, bytes: size, milliseconds: Math.round(elapsed), ...facts };
  await printResult(options.console, { done, details, members }, flags.json);
  for (const { severity, message } of problems) options.console.err(`${severity}: ${visible(message)}\n`);
  if (problems.length > 0)
    throw new CommandError(
      'the backup is a true copy, but does not count as verified: correct these pets in the store',
    );
}

export async function restore(file: string, flags: ReplaceFlags, options: CommandOptions): Promise<void> {
  const { console, databaseUrl, restoreStore } = options;
  const { elapsed, result } = await copied(flags, options, 'restored', (how) =>
    restoreStore(databaseUrl, file, how),
  );
  const { location, bytes, pets, apiKeys, lastId, setAside, problems } = result;
  const contents = `${counted(pets, 'pet')} and ${counted(apiKeys, 'key')}`;
  const done = `restored ${location}`;
  const details = ` from ${file}: ${contents}, ids go on after ${lastId}, in ${duration(elapsed)}`;
  const members = {
    store: location,
    bytes,
    pets,
    apiKeys,
    lastId: String(lastId),
    setAside,
    milliseconds: Math.round(elapsed),
  };
  await printResult(console, { done, details, members }, flags.json);
  for (const path of setAside) console.err(`The unreadable store is kept in ${visible(path)}\n`);
  for (const { severity, message } of problems) console.err(`${severity}: ${visible(message)}\n`);
}

/** Makes a copy, and shows its progress. */
async function copied<T>(
  { force = false }: ReplaceFlags,
  { console, signal }: CommandOptions,
  done: string,
  copy: (how: BackupOptions) => Promise<T>,
): Promise<{ readonly result: T; readonly elapsed: number }> {
  const progress = new Progress(console);
  const onProgress = (share: number): void => progress.show({ title: 'Copying', share });
  try {
    const result = await copy({ overwrite: force, onProgress, signal });
    return { result, elapsed: progress.elapsed };
  } catch (error) {
    throw signal.aborted ? new CommandError(`interrupted; nothing was ${done}`) : error;
  } finally {
    progress.end();
  }
}
