import type { BackupContents, BackupOptions } from '../../application/ports/maintenance.ts';
import { CommandError } from './errors.ts';
import { counted } from './format.ts';
import type { CommandOptions } from './options.ts';
import { Progress } from './progress.ts';

/** Copies a store, and shows the progress. Resolves with the result and the time in milliseconds. */
export async function copyStore<T>(
  { console, signal }: CommandOptions,
  overwrite: boolean | undefined,
  outcome: string,
  copy: (how: BackupOptions) => Promise<T>,
): Promise<{ readonly result: T; readonly elapsed: number }> {
  const progress = new Progress(console);
  const onProgress = (share: number): void => progress.show({ title: 'Copying', share });
  try {
    const result = await copy({ overwrite, onProgress, signal });
    return { result, elapsed: progress.elapsed };
  } catch (error) {
    throw signal.aborted ? new CommandError(`interrupted; ${outcome}`) : error;
  } finally {
    progress.end();
  }
}

/** `1,000,000 pets up to id 1000000 and 3 keys` */
export function contentsText({ pets, apiKeys, lastId }: Omit<BackupContents, 'problems'>): string {
  return `${counted(pets, 'pet')} up to id ${lastId} and ${counted(apiKeys, 'key')}`;
}
