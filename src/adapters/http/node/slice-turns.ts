/**
 * The maximum number of slices that are parsed in one iteration of the event loop. More requests than the server handles in
 * an iteration would only wait in other queues, and then be refused.
 */
const SLICES_PER_ITERATION = 2;

/** Lets the connections of a server parse their slices in turn. */
export class SliceTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when a connection may parse one slice, in a later iteration of the event loop. */
  next(): Promise<void> {
    if (this.#waiting.length === 0) setImmediate(this.#begin);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly #begin = (): void => {
    for (const resolve of this.#waiting.splice(0, SLICES_PER_ITERATION)) resolve();
    if (this.#waiting.length > 0) setImmediate(this.#begin);
  };
}
