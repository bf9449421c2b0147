import type { CarriedRequest } from './http.ts';

/**
 * A caller that sends a further request on a connection within this time after a refusal has ignored `Retry-After`. In
 * milliseconds.
 */
const RETRY_TIME = 1000;

/**
 * The average delay: DELAY_MIN, and DELAY_STEP for each refusal that is delayed already, but at most DELAY_MAX. So 1,000
 * clients cause about 100 refusals per second, and 10,000 clients 1,000. In milliseconds.
 */
const DELAY_MIN = 1000;
const DELAY_STEP = 10;
const DELAY_MAX = 10_000;

export type DelayedRequest = Pick<CarriedRequest, 'connection' | 'onClose'>;

/**
 * Delays the responses to clients that send the next request immediately after each refusal, or after each response that
 * needs no API key. They would take much of the processor time. While their responses are delayed, the server uses its time
 * for the requests that it accepts.
 */
export class RefusalDelays {
  /** The last such response on each connection. A connection of a proxy can have several callers. */
  readonly #last = new WeakMap<object, { readonly caller: string | undefined; readonly at: number }>();
  /** The functions that end the current delays. */
  readonly #ends = new Set<() => void>();

  /**
   * Resolves when the response may be sent: immediately for the first response to a caller on a connection, and as soon as
   * the client has disconnected.
   *
   * @param caller the id of the caller; `undefined` without a valid API key
   */
  async wait(request: DelayedRequest, caller: string | undefined): Promise<void> {
    const { connection } = request;
    if (connection === undefined) return;
    const last = this.#last.get(connection);
    const isEarly = last?.caller === caller && performance.now() - (last?.at ?? -Infinity) < RETRY_TIME;
    if (isEarly) await this.#delay(request);
    this.#last.set(connection, { caller, at: performance.now() });
  }

  /** Ends all current delays. Called when the server stops. */
  end(): void {
    for (const end of this.#ends) end();
  }

  #delay(request: DelayedRequest): Promise<void> {
    const average = Math.min(DELAY_MIN + DELAY_STEP * this.#ends.size, DELAY_MAX);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        removeListener();
        this.#ends.delete(end);
        resolve();
      };
      // The delays differ, so that the responses, and the requests that follow them, do not arrive together.
      const timer = setTimeout(end, average * (0.5 + Math.random()));
      const removeListener = request.onClose(end);
      this.#ends.add(end);
    });
  }
}
