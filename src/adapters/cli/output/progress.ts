import { type Console, styled } from './console.ts';
import { duration, number, rate } from './format.ts';

const BAR_INTERVAL = 100;
const LINE_INTERVAL = 5000;

const BAR_WIDTH = 24;
const BAR_MIN_WIDTH = 6;
const CLEAR_LINE = '\r\u001b[K';

export interface Step {
  readonly title: string;
  /** The number of pets so far. */
  readonly count?: number;
  /** The fraction that is done, from 0 to 1. */
  readonly share?: number | undefined;
}

/** Shows the progress of a long command on standard error: as a bar on a terminal, or else as lines. */
export class Progress {
  readonly #console: Console;
  readonly #startedAt = performance.now();
  #title = '';
  #stepStartedAt = 0;
  #shownAt = this.#startedAt;
  #isBarShown = false;

  constructor(console: Console) {
    this.#console = console;
  }

  get elapsed(): number {
    return performance.now() - this.#startedAt;
  }

  show(step: Step): void {
    const now = performance.now();
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

  end(): void {
    if (this.#isBarShown) this.#console.errRaw(CLEAR_LINE);
    this.#isBarShown = false;
  }

  #draw({ title, share }: Step, facts: readonly string[], columns: number): void {
    const room = columns - [title, '[]', ...facts].join('  ').length - 1;
    const bar = share === undefined || room < BAR_MIN_WIDTH ? [] : [barOf(share, room)];
    const plain = [title, ...bar, ...facts].join('  ').slice(0, columns - 1);
    const text = plain.replace(/#+/, (done) => styled('green', done, this.#console.errScreen));
    this.#console.errRaw(CLEAR_LINE + text);
    this.#isBarShown = true;
  }

  #facts({ count, share }: Step, elapsed: number): string[] {
    const facts: string[] = [];
    if (share !== undefined) facts.push(`${Math.floor(share * 100)} %`);
    if (count !== undefined) facts.push(`${number(count)} pets`, rate(count, elapsed));
    if (share !== undefined && share > 0) facts.push(`${duration((elapsed / share) * (1 - share))} left`);
    return facts;
  }
}

function barOf(share: number, room: number): string {
  const width = Math.min(room, BAR_WIDTH);
  const done = Math.round(Math.min(share, 1) * width);
  return `[${'#'.repeat(done)}${'.'.repeat(width - done)}]`;
}
