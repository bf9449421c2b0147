import { Presets, SingleBar } from 'cli-progress';
import type { Console } from './console.ts';
import { withOutcome } from './errors.ts';

/** A command that ends earlier shows no progress, in milliseconds. */
const DELAY = 500;

const BAR = '{title}  [{bar}]  {percentage} %  {eta_formatted} left';

/** Shows what a command does, and the fraction that is done, from 0 to 1, if it is known. */
export type Progress = (title: string, share?: number) => void;

/** Calls a work with a function that shows its progress on standard error, if that is a terminal. */
export async function withProgress<T>(
  { console: { stderr }, signal }: { readonly console: Console; readonly signal: AbortSignal },
  outcome: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let bar: SingleBar | undefined;
  let shown = '';
  const show: Progress = (title, share) => {
    if (performance.now() - startedAt < DELAY) return;
    const format = share === undefined ? '{title}' : BAR;
    if (format !== shown) {
      shown = format;
      bar?.stop();
      const look = { format, stream: stderr, barsize: 24, linewrap: true, clearOnComplete: true };
      bar = new SingleBar(look, Presets.legacy);
      bar.start(1, 0, { title });
    }
    bar?.update(share ?? 0, { title });
  };
  try {
    return await withOutcome(signal, outcome, work(show));
  } finally {
    bar?.stop();
  }
}
