import type { Context } from './context.ts';

/** A caller that sends a request within this time after a refusal has ignored `Retry-After`. In milliseconds. */
const RETRY_TIME = 1000;

/** The average delay in milliseconds: DELAY_MIN, and DELAY_STEP for each refusal that is delayed already. */
const DELAY_MIN = 1000;
const DELAY_STEP = 10;
const DELAY_MAX = 10_000;

/** How often it is checked whether a delay must end early, in milliseconds. */
const CHECK_INTERVAL = 1000;

/**
 * Delays the responses to clients that send the next request immediately after each refusal. They would take much of the
 * processor time from the requests that the server accepts.
 */
export class RefusalDelays {
  /** The last refusal on each connection. A connection of a proxy can have several callers. */
  readonly #last = new WeakMap<object, { readonly caller: string | undefined; readonly at: number }>();
  #delayed = 0;

  /**
   * Resolves when a refusal may be sent: immediately if it is the first one to a caller on a connection, or when the client
   * has disconnected.
   *
   * @param isStopping ends the delay
   */
  async wait({ socket, state, res }: Context, isStopping: () => boolean): Promise<void> {
    const caller = state.animalStore.callerId;
    const last = this.#last.get(socket);
    const isEarly = last?.caller === caller && performance.now() - (last?.at ?? -Infinity) < RETRY_TIME;
    if (isEarly) {
      const average = Math.min(DELAY_MIN + DELAY_STEP * this.#delayed, DELAY_MAX);
      // The delays differ, so that the responses, and the requests that follow them, do not arrive together.
      let left = average * (0.5 + Math.random());
      this.#delayed += 1;
      for (; left > 0 && !res.destroyed && !isStopping(); left -= CHECK_INTERVAL) {
        const time = Math.min(left, CHECK_INTERVAL);
        await new Promise((resolve) => setTimeout(resolve, time));
      }
      this.#delayed -= 1;
    }
    this.#last.set(socket, { caller, at: performance.now() });
  }
}
