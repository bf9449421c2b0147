/** How far a long command is: a bar that is drawn again on a terminal, a line now and then elsewhere. */

import { styleText } from 'node:util';
import type { Console } from './console.ts';

/** Milliseconds from one showing to the next. */
const BAR_INTERVAL = 100;
const LINE_INTERVAL = 5000;

const BAR_WIDTH = 24;
const BAR_MIN_WIDTH = 6;
const CLEAR_LINE = '\r\u001b[K';

export interface Step {
  /** What is done, such as `Reading`. */
  readonly title: string;
  /** How many things are done with, for the rate. */
  readonly count?: number;
  /** From 0 to 1; left out when nobody knows. */
  readonly share?: number | undefined;
}

export class Progress {
  readonly #console: Console;
  readonly #things: string;
  readonly #now: () => number;
  readonly #startedAt: number;
  #title = '';
  #stepStartedAt = 0;
  #shownAt: number;
  #isBarShown = false;

  /** @param things what is counted, in the plural */
  constructor(console: Console, things: string, now: () => number = () => performance.now()) {
    this.#console = console;
    this.#things = things;
    this.#now = now;
    this.#startedAt = now();
    this.#shownAt = this.#startedAt;
  }

  /** Milliseconds since the beginning. */
  get elapsed(): number {
    return this.#now() - this.#startedAt;
  }

  /** May be called as often as one likes: most calls show nothing. */
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

  /** Takes the bar off the screen. */
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
    if (count !== undefined) facts.push(`${number(count)} ${this.#things}`, rate(count, elapsed));
    if (share !== undefined && share > 0) facts.push(`${duration((elapsed / share) * (1 - share))} left`);
    return facts;
  }
}

/** `1,000,000` */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 animal`, `1,000,000 animals` */
export function counted(value: number, thing: string): string {
  return `${number(value)} ${thing}${value === 1 ? '' : 's'}`;
}

/** `256,000/s` */
export function rate(count: number, elapsed: number): string {
  return `${number(Math.round(count / (Math.max(elapsed, 1) / 1000)))}/s`;
}

/** `3.9 s`, `2 min 5 s`, `1 h 20 min` */
export function duration(elapsed: number): string {
  const seconds = elapsed / 1000;
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
