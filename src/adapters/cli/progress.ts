/**
 * Shows the progress of a long command on standard error: as a progress bar if standard error is a terminal, or else as
 * lines.
 */

import { styleText } from 'node:util';
import type { Console } from './console.ts';

/** The minimum interval between two updates of the progress bar, in milliseconds. */
const BAR_INTERVAL = 100;
/** The minimum interval between two progress lines, in milliseconds. */
const LINE_INTERVAL = 5000;

const SECOND = 1000;
const BAR_WIDTH = 24;
const BAR_MIN_WIDTH = 6;
const CLEAR_LINE = '\r\u001b[K';

export interface Step {
  /** The name of the step, such as `Reading`. */
  readonly title: string;
  /** The number of items that were processed so far. */
  readonly count?: number;
  /** The fraction of the step that is done, from 0 to 1, or `undefined` if the fraction is unknown. */
  readonly share?: number | undefined;
}

export class Progress {
  readonly #console: Console;
  readonly #items: string;
  readonly #now: () => number;
  readonly #startedAt: number;
  #title = '';
  #stepStartedAt = 0;
  #shownAt: number;
  #isBarShown = false;

  /** @param items the plural of the name of an item, such as `pets` */
  constructor(console: Console, items: string, now: () => number = () => performance.now()) {
    this.#console = console;
    this.#items = items;
    this.#now = now;
    this.#startedAt = now();
    this.#shownAt = this.#startedAt;
  }

  /** The number of milliseconds since this object was created. */
  get elapsed(): number {
    return this.#now() - this.#startedAt;
  }

  /** Shows the progress of a step. Does nothing if the last update was less than the minimum interval ago. */
  show(step: Step): void {
    const now = this.#now();
    if (step.title !== this.#title) {
      this.#title = step.title;
      this.#stepStartedAt = now;
    }
    const { columns } = this.#console.errScreen;
    if (now - this.#shownAt < (columns === undefined ? LINE_INTERVAL : BAR_INTERVAL)) return;
    this.#shownAt = now;
    const facts = this.#facts(step, now - this.#stepStartedAt);
    if (columns === undefined) this.#console.err(`${step.title}: ${facts.join(', ')}\n`);
    else this.#draw(step, facts, columns);
  }

  /** Removes the progress bar from the terminal. */
  end(): void {
    if (this.#isBarShown) this.#console.errRaw(CLEAR_LINE);
    this.#isBarShown = false;
  }

  #draw({ title, share }: Step, facts: readonly string[], columns: number): void {
    const room = columns - [title, '[]', ...facts].join('  ').length - 1;
    const bar = share === undefined || room < BAR_MIN_WIDTH ? [] : [barOf(share, room)];
    const plain = [title, ...bar, ...facts].join('  ').slice(0, columns - 1);
    const { hasColours } = this.#console.errScreen;
    const text = hasColours
      ? plain.replace(/#+/, (done) => styleText('green', done, { validateStream: false }))
      : plain;
    this.#console.errRaw(CLEAR_LINE + text);
    this.#isBarShown = true;
  }

  #facts({ count, share }: Step, elapsed: number): string[] {
    const facts: string[] = [];
    if (share !== undefined) facts.push(`${Math.floor(share * 100)} %`);
    if (count !== undefined) facts.push(`${number(count)} ${this.#items}`, rate(count, elapsed));
    if (share !== undefined && share > 0) facts.push(`${duration((elapsed / share) * (1 - share))} left`);
    return facts;
  }
}

/** Formats a number, for example as `1,000,000`. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** Formats a number of items, for example as `1 pet` or `1,000,000 pets`. */
export function counted(value: number, item: string): string {
  return `${number(value)} ${item}${value === 1 ? '' : 's'}`;
}

/** Formats the duration of a completed command and, if the rate is meaningful, the rate: `3.9 s (256,000/s)`. */
export function durationAndRate(count: number, elapsed: number): string {
  return Math.round(elapsed) < SECOND ? duration(elapsed) : `${duration(elapsed)} (${rate(count, elapsed)})`;
}

/** Formats the rate of `count` items in `elapsed` milliseconds, for example as `256,000/s`. */
function rate(count: number, elapsed: number): string {
  return `${number(Math.round(count / (Math.max(elapsed, 1) / SECOND)))}/s`;
}

/** Formats a duration in milliseconds, for example as `8 ms`, `3.9 s`, `2 min 5 s` or `1 h 20 min`. */
export function duration(elapsed: number): string {
  if (Math.round(elapsed) < SECOND) return `${Math.round(elapsed)} ms`;
  const seconds = elapsed / SECOND;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function barOf(share: number, room: number): string {
  const width = Math.min(room, BAR_WIDTH);
  const done = Math.round(Math.min(share, 1) * width);
  return `[${'#'.repeat(done)}${'.'.repeat(width - done)}]`;
}
