/**
 * Limits how many events are logged per second. The number of suppressed events is reported at the end of the second.
 */

const WINDOW = 1000;

/** The kind that is reported for events whose own kind is not counted separately, because there are too many kinds. */
export const OTHER_KINDS = 'others';

export interface ThrottleOptions {
  /** The maximum number of events of one kind that pass in one second. */
  readonly limit: number;
  /**
   * The maximum number of kinds that are counted separately in one second. Further kinds are counted together as {@link
   * OTHER_KINDS}.
   */
  readonly kinds: number;
  /** Called at the end of a second for each kind with suppressed events. `count` is the number of suppressed events. */
  readonly onSuppressed: (count: number, kind: string) => void;
}

/**
 * The throttles that have counted events since their last report. All throttles share one `exit` listener of the
 * process, because Node.js prints a warning when an emitter has more than ten listeners for an event.
 */
const pending = new Set<Throttle>();

export class Throttle {
  readonly #options: ThrottleOptions;
  /** The number of events of each kind in the current second. */
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /** Counts an event. Returns whether the event may be logged. */
  passes(kind: string): boolean {
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.report(), WINDOW).unref();
      addPending(this);
    }
    const isKnown = this.#counts.has(kind) || this.#counts.size < this.#options.kinds;
    const counted = isKnown ? kind : OTHER_KINDS;
    const count = (this.#counts.get(counted) ?? 0) + 1;
    this.#counts.set(counted, count);
    return count <= this.#options.limit;
  }

  /** Ends the current second, and reports the events that were suppressed in that second. */
  report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    removePending(this);
    const counts = [...this.#counts];
    this.#counts.clear();
    for (const [kind, count] of counts) {
      if (count > this.#options.limit) this.#options.onSuppressed(count - this.#options.limit, kind);
    }
  }
}

/**
 * Adds a throttle that must report before the process exits. The log has its own `exit` listener, which writes the last
 * lines. With `prependOnceListener`, the listener of the throttles is called first, so its reports are written too.
 */
function addPending(throttle: Throttle): void {
  if (pending.size === 0) process.prependOnceListener('exit', reportPending);
  pending.add(throttle);
}

function removePending(throttle: Throttle): void {
  pending.delete(throttle);
  if (pending.size === 0) process.off('exit', reportPending);
}

function reportPending(): void {
  for (const throttle of [...pending]) throttle.report();
}
