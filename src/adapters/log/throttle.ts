/** Keeps a flood of events out of the log: what exceeds the limit is counted, and reported when the second is over. */

const WINDOW = 1000;

/** Events of more kinds than a throttle tells apart are counted together, as this kind. */
export const OTHER_KINDS = 'others';

export interface ThrottleOptions {
  /** How many events of a kind pass in a second. */
  readonly limit: number;
  /** How many kinds are told apart in a second. */
  readonly kinds: number;
  /** Called at the end of the second, for each kind with suppressed events. */
  readonly onSuppressed: (count: number, kind: string) => void;
}

export class Throttle {
  readonly #options: ThrottleOptions;
  /** How many events of each kind the present second has seen. */
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /** Counts an event, and returns whether it may pass. */
  passes(kind: string): boolean {
    if (this.#timer === undefined) {
      this.#timer = setTimeout(this.report, WINDOW).unref();
      process.prependOnceListener('exit', this.report); // before the listener that writes the last lines
    }
    const isKnown = this.#counts.has(kind) || this.#counts.size < this.#options.kinds;
    const counted = isKnown ? kind : OTHER_KINDS;
    const count = (this.#counts.get(counted) ?? 0) + 1;
    this.#counts.set(counted, count);
    return count <= this.#options.limit;
  }

  /** Ends the present second. */
  readonly report = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    process.off('exit', this.report);
    const counts = [...this.#counts];
    this.#counts.clear();
    for (const [kind, count] of counts) {
      if (count > this.#options.limit) this.#options.onSuppressed(count - this.#options.limit, kind);
    }
  };
}
