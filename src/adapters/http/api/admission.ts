import type { EventEmitter } from 'node:events';
import { HttpError } from './errors.ts';
import { type RateLimit, RateLimiter } from './rate-limiter.ts';
import { RefusalDelays } from './refusal-delays.ts';
import { Turn } from './turn.ts';

/** The maximum number of creates in progress: twice as many as the largest transaction of SQLite stores. */
const CREATES_LIMIT = 2_000;

/**
 * Decides which requests are handled. All limits on the load of the server are here, except for the limits on connections
 * and on the queues of a storage. The Koa app and the HTTP server share one instance: the server calls `stop` and
 * `refuse`, and the app calls `refusalOf` for each request.
 */
export class Admission {
  readonly #turn = new Turn();
  readonly #delays = new RefusalDelays();
  readonly #rateLimiter: RateLimiter | undefined;
  #isStopping = false;
  #isRefusing = false;
  #creates = 0;

  /** @param rateLimit the limit of each caller; by default there is no limit */
  constructor(rateLimit?: RateLimit) {
    if (rateLimit !== undefined) this.#rateLimiter = new RateLimiter(rateLimit);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Sets `isStopping`. Requests that clients have sent before they learn of the stop are still admitted. */
  stop(): void {
    this.#isStopping = true;
    this.#delays.end();
  }

  /** From now on, every request under `/v1` is refused. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /** Counts a create that is in progress. The caller must call `endCreate` when the create has succeeded or failed. */
  beginCreate(): void {
    this.#creates += 1;
  }

  endCreate(): void {
    this.#creates -= 1;
  }

  /**
   * Returns the error to respond with if the request must not be handled: `overloaded` or `rate_limited`. Must be called
   * once for each request except health checks, after the API key is verified and before the body is read.
   *
   * @param caller the id of the caller; `undefined` for a path that needs no API key
   */
  refusalOf(method: string, caller: string | undefined): HttpError | undefined {
    const isTurnLong = this.#turn.count();
    if (this.#isRefusing && caller !== undefined) return STOPPING;
    if (isTurnLong) return TOO_BUSY;
    if (method === 'POST' && this.#creates >= CREATES_LIMIT) return TOO_MANY_CREATES;
    if (this.#rateLimiter === undefined || caller === undefined) return undefined;
    const wait = this.#rateLimiter.take(caller);
    return wait === 0 ? undefined : tooManyRequests(wait);
  }

  /**
   * Resolves when the refusal may be sent. Under overload, the refusals of clients that ignore `Retry-After` are delayed.
   *
   * @param connection any object that represents the connection
   * @param response emits `close` when the client has disconnected
   */
  async delay(refusal: HttpError, connection: object, response: EventEmitter): Promise<void> {
    const isOverload = refusal === TOO_BUSY || refusal === TOO_MANY_CREATES;
    if (isOverload) await this.#delays.wait(connection, response);
  }
}

// These errors are created only once, because the stack of an error costs more than the rest of a refusal.
const STOPPING = new HttpError('overloaded', 'the server is stopping');
const TOO_BUSY = new HttpError('overloaded', 'the server receives more requests than it can handle');
const TOO_MANY_CREATES = new HttpError('overloaded', 'too many pets are being stored');

/** @param wait the time until the next request is admitted, in milliseconds */
function tooManyRequests(wait: number): HttpError {
  const seconds = String(Math.ceil(wait / 1000));
  const message = `too many requests with this API key: retry after ${seconds} s`;
  return new HttpError('rate_limited', message, ['Retry-After', seconds]);
}
