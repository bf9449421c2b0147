import type { CarriedRequest } from './http.ts';

/** A caller that sends a request within this time after a refusal has ignored `Retry-After`. In milliseconds. */
const RETRY_TIME = 1000;

/** The average delay in milliseconds: DELAY_MIN, and DELAY_STEP for each refusal that is delayed already. */
const DELAY_MIN = 1000;
const DELAY_STEP = 10;
const DELAY_MAX = 10_000;

export type DelayedRequest = Pick<CarriedRequest, 'connection' | 'onClose'>;

/**
 * Delays the responses to clients that send the next request immediately after each refusal, or after each response that
 * needs no API key. They would take much of the processor time from the requests that the server accepts.
 */
export class RefusalDelays {
  /** The last such response on each connection. A connection of a proxy can have several callers. */
  readonly #last = new WeakMap<object, { readonly caller: string | undefined; readonly at: number }>();
  readonly #ends = new Set<() => void>();

  /** Resolves when the response may be sent: immediately if it is the first one to a caller on a connection. */
  async wait(request: DelayedRequest, caller: string | undefined): Promise<void> {
    const { connection } = request;
    const last = this.#last.get(connection);
    const isEarly = last?.caller === caller && performance.now() - (last?.at ?? -Infinity) < RETRY_TIME;
    if (isEarly) await this.#delay(request);
    this.#last.set(connection, { caller, at: performance.now() });
  }

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
