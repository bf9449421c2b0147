/**
 * Calls a function when an operation is late. The operations end in the order in which they began. One timer serves all
 * of them, because a timer for each operation costs more, and keeps the objects of ended operations in memory for longer.
 */
export class Deadlines {
  readonly #timeout: number;
  readonly #onLate: () => void;
  readonly #deadlines: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param timeout how long an operation may take, in milliseconds; 0 for any time
   * @param onLate called once for the oldest operation, and again for the next one if the operations go on
   */
  constructor(timeout: number, onLate: () => void) {
    this.#timeout = timeout;
    this.#onLate = onLate;
  }

  begin(): void {
    this.#deadlines.push(performance.now() + this.#timeout);
    if (this.#timer === undefined && this.#timeout > 0) this.#startTimer();
  }

  /** Ends the oldest operation. */
  end(): void {
    this.#deadlines.shift();
  }

  /** Ends all operations. */
  clear(): void {
    this.#deadlines.length = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The timer continues to run when the oldest operation ends earlier, because this does no harm. */
  #startTimer(): void {
    const [oldest] = this.#deadlines;
    if (oldest === undefined) {
      this.#timer = undefined;
      return;
    }
    const left = Math.max(1, Math.ceil(oldest - performance.now()));
    this.#timer = setTimeout(() => {
      const isLate = (this.#deadlines[0] ?? Number.POSITIVE_INFINITY) <= performance.now();
      if (isLate) this.#deadlines.shift();
      this.#startTimer();
      if (isLate) this.#onLate();
    }, left).unref();
  }
}
