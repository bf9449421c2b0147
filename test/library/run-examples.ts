/**
 * Runs modules one after another in one process, each in its own folder, because starting a process takes longer than
 * most examples. The arguments are the paths of the modules. Sends an `Outcome` of each module to the parent process.
 * The process exits only if no module has left anything open.
 */

import { dirname } from 'node:path';
import { format } from 'node:util';

export interface Outcome {
  readonly file: string;
  /** The arguments of each call of `console.log`, as text. */
  readonly lines: readonly string[];
  /** What the module has thrown. */
  readonly error?: string;
}

for (const file of process.argv.slice(2)) {
  const lines: string[] = [];
  console.log = (...values: unknown[]) => void lines.push(format(...values));
  process.chdir(dirname(file));
  const error = await import(file).then(() => undefined, format);
  process.send?.({ file, lines, error });
}
process.disconnect?.();
