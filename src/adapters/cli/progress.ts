import type { Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';

/** A command that ends earlier shows no progress, in milliseconds. */
const DELAY = 500;

const BAR = '{title}  [{bar}]  {percentage} %  {eta_formatted} left';

/** Returns a function that shows on a terminal what a command does, and the share that is done. Without a title, it ends. */
export function progressOn(stream: Writable): (title?: string, share?: number) => void {
  const startedAt = performance.now();
  let bar: SingleBar | undefined;
  let shown = '';
  return (title, share) => {
    if (title !== undefined && performance.now() - startedAt < DELAY) return;
    const format = title === undefined ? '' : share === undefined ? '{title}' : BAR;
    if (format !== shown) {
      shown = format;
      bar?.stop();
      bar = undefined;
    }
    if (title === undefined) return;
    if (bar === undefined) {
      bar = new SingleBar(
        { format, stream, barsize: 24, linewrap: true, clearOnComplete: true },
        Presets.legacy,
      );
      bar.start(1, 0, { title });
    }
    bar.update(share ?? 0, { title });
  };
}
