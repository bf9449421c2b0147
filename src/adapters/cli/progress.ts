import { Presets, SingleBar } from 'cli-progress';
import type { Console } from './console.ts';
import { CommandError } from './errors.ts';
import { number } from './format.ts';

/** A command that ends earlier shows no progress, in milliseconds. */
const DELAY = 500;
const LINE_INTERVAL = 5000;

const BAR = '{title}  [{bar}]  {percentage} %  {pets}{eta_formatted} left';
const COUNT = '{title}  {pets}';

/** The fraction that is done is shown as a part of this number. */
const WHOLE = 10_000;

/** Shows the progress of a long command on standard error: as a bar on a terminal, or else as a line every 5 seconds. */
export class Progress {
  readonly #stream: Console['stderr'];
  readonly #startedAt = performance.now();
  #bar: SingleBar | undefined;
  #title = '';

  constructor({ stderr }: Console) {
    this.#stream = stderr;
  }

  /** The time since the start, in milliseconds. */
  get elapsed(): number {
    return performance.now() - this.#startedAt;
  }

  /**
   * @param count the number of pets so far
   * @param share the fraction that is done, from 0 to 1
   */
  show(title: string, count: number | undefined, share?: number): void {
    if (this.elapsed < (this.#stream.isTTY ? DELAY : LINE_INTERVAL)) return;
    const pets = count === undefined ? '' : `${number(count)} pets  `;
    const value = Math.round((share ?? 0) * WHOLE);
    if (title !== this.#title) {
      this.end();
      this.#title = title;
      const format = share === undefined ? COUNT : BAR;
      const look = { barsize: 24, linewrap: true, clearOnComplete: true };
      const lines = { noTTYOutput: true, notTTYSchedule: LINE_INTERVAL };
      this.#bar = new SingleBar({ format, stream: this.#stream, ...look, ...lines }, Presets.legacy);
      this.#bar.start(WHOLE, value, { title, pets });
    }
    this.#bar?.update(value, { pets });
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

/**
 * Calls a work with a progress. Resolves with its result and its time in milliseconds. When a signal has ended the work, the
 * error says so, and what that means for the store.
 */
export async function withProgress<T>(
  { console, signal }: { readonly console: Console; readonly signal: AbortSignal },
  outcome: string,
  work: (progress: Progress) => Promise<T>,
): Promise<readonly [result: T, elapsed: number]> {
  const progress = new Progress(console);
  try {
    return [await work(progress), progress.elapsed];
  } catch (error) {
    throw signal.aborted ? new CommandError(`interrupted; ${outcome}`) : error;
  } finally {
    progress.end();
  }
}
