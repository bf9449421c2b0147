const WINDOW = 1000;

/** The maximum number of kinds that are counted separately in one second. Further kinds are {@link OTHER_KINDS}. */
const KINDS_LIMIT = 50;

/** The kind of all events whose own kind is not counted separately. */
export const OTHER_KINDS = 'others';

/** The throttles that have counted events since their last report, and the timers of their next report. */
const pending = new Map<Throttle, NodeJS.Timeout>();

/** Reports the events that were suppressed since the last reports. Must be called before the process exits. */
export function reportSuppressed(): void {
  for (const throttle of [...pending.keys()]) throttle.report();
}

/** Limits how many events of each kind are logged per second, and reports the others at the end of the second. */
export class Throttle {
  readonly #limit: number;
  readonly #onSuppressed: (count: number, kind: string) => void;
  readonly #counts = new Map<string, number>();

  /**
   * @param limit the maximum number of events of one kind that pass in one second
   * @param onSuppressed called at the end of a second for each kind with suppressed events, with their number
   */
  constructor(limit: number, onSuppressed: (count: number, kind: string) => void) {
    this.#limit = limit;
    this.#onSuppressed = onSuppressed;
  }

  /** Counts an event. Returns whether the event may be logged. */
  passes(kind: string): boolean {
    if (this.#counts.size === 0) pending.set(this, setTimeout(() => this.report(), WINDOW).unref());
    const isKnown = this.#counts.has(kind) || this.#counts.size < KINDS_LIMIT;
    const counted = isKnown ? kind : OTHER_KINDS;
    const count = (this.#counts.get(counted) ?? 0) + 1;
    this.#counts.set(counted, count);
    return count <= this.#limit;
  }

  /** Ends the current second, and reports the events that were suppressed in that second. */
  report(): void {
    clearTimeout(pending.get(this));
    pending.delete(this);
    const counts = [...this.#counts];
    this.#counts.clear();
    for (const [kind, count] of counts) {
      if (count > this.#limit) this.#onSuppressed(count - this.#limit, kind);
    }
  }
}
