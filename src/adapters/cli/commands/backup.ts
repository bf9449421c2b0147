import { statSync } from 'node:fs';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { CommandError } from '../errors.ts';
import type { CommandOptions, ReplaceFlags } from '../options.ts';
import { duration, number } from '../output/format.ts';
import { Progress } from '../output/progress.ts';
import { printResult } from '../output/result.ts';
import { withStore } from './store.ts';

/** Copies the whole store into a file. Other processes can write to the store during the copy. */
export async function backup(
  file: string,
  { force = false, json }: ReplaceFlags,
  options: CommandOptions,
): Promise<void> {
  const { console, signal } = options;
  const progress = new Progress(console);
  const onProgress = (share: number): void => progress.show({ title: 'Copying', share });
  const copy = (store: AnimalStore) => store.backup(file, { overwrite: force, onProgress, signal });
  await withStore(options, 'backup', copy)
    .catch((error: unknown) => {
      throw signal.aborted ? new CommandError('interrupted; nothing was backed up') : error;
    })
    .finally(() => progress.end());
  const { elapsed } = progress;
  const { size } = statSync(file);
  const done = `backed up to ${file}`;
  const details = `: ${number(size)} bytes in ${duration(elapsed)}`;
  const members = { file, bytes: size, milliseconds: Math.round(elapsed) };
  await printResult(console, { done, details, members }, json);
}
