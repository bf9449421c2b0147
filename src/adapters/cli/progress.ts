import { Presets, SingleBar } from 'cli-progress';
import type { Console } from './console.ts';
import { number } from './format.ts';

/** A command that ends earlier shows no progress, in milliseconds. */
const DELAY = 500;
const LINE_INTERVAL = 5000;

const BAR = '{title}  [{bar}]  {percentage} %  {pets}{eta_formatted} left';
const COUNT = '{title}  {pets}';

/** The fraction that is done is shown as a part of this number. */
const WHOLE = 10_000;

export interface Step {
  readonly title: string;
  /** The number of pets so far. */
  readonly count?: number;
  /** The fraction that is done, from 0 to 1. */
  readonly share?: number | undefined;
}

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

  show({ title, count, share }: Step): void {
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
