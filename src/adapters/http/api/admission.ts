import type { EventEmitter } from 'node:events';
import { HttpError } from './errors.ts';
import { type RateLimit, RateLimiter } from './rate-limiter.ts';
import { RefusalDelays } from './refusal-delays.ts';
import { Turn } from './turn.ts';

/** The maximum number of creates in progress: twice as many as the largest transaction of SQLite stores. */
const CREATES_LIMIT = 2_000;

/**
 * Why a request was refused: the server is too busy, too many creates are in progress, the caller has reached its rate
 * limit, or the server is stopping.
 */
type RefusalReason = 'busy' | 'creates' | 'rate' | 'stopping';

/**
 * Decides which requests are handled. All limits on the load of the server are here, except for the limits on connections
 * and on the queues of a storage. The Koa app and the HTTP server share one instance: the server calls `stop` and
 * `refuse`, and the app calls the other methods for each request.
 */
export class Admission {
  readonly #turn = new Turn();
  readonly #delays = new RefusalDelays();
  readonly #rateLimiter: RateLimiter | undefined;
  #isStopping = false;
  #isRefusing = false;
  #creates = 0;
  readonly #refused: Record<RefusalReason, number> = { busy: 0, creates: 0, rate: 0, stopping: 0 };
  /** The last error of the rate limiter, and the seconds in its `Retry-After`. */
  #tooMany: { readonly seconds: number; readonly error: HttpError } | undefined;

  /** @param rateLimit the limit of each caller; by default there is no limit */
  constructor(rateLimit?: RateLimit) {
    if (rateLimit !== undefined) this.#rateLimiter = new RateLimiter(rateLimit);
  }

  /** The number of refused requests, by reason. */
  get refused(): Readonly<Record<RefusalReason, number>> {
    return this.#refused;
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

  /**
   * Counts a request. Returns whether the server is too busy to handle it. Must be called once for each request except
   * health checks, before anything else is done with the request.
   */
  isTooBusy(): boolean {
    return this.#turn.count();
  }

  /**
   * Returns the error to respond with if the request must not be handled: `overloaded` or `rate_limited`. Must be called
   * after the API key is verified and before the body is read.
   *
   * @param caller the id of the caller; `undefined` for a path that needs no API key
   * @param isTooBusy the result of `isTooBusy` for this request
   */
  refusalOf(method: string, caller: string | undefined, isTooBusy: boolean): HttpError | undefined {
    if (this.#isRefusing && caller !== undefined) return this.#refusal('stopping', STOPPING);
    if (isTooBusy) return this.#refusal('busy', TOO_BUSY);
    if (caller === undefined) return undefined;
    if (method === 'POST' && this.#creates >= CREATES_LIMIT)
      return this.#refusal('creates', TOO_MANY_CREATES);
    const wait = this.#rateLimiter?.take(caller) ?? 0;
    return wait === 0 ? undefined : this.#refusal('rate', this.#tooManyRequests(Math.ceil(wait / 1000)));
  }

  /**
   * Resolves when the response with an error may be sent. While the server is busy, responses are delayed for clients that
   * ignore `Retry-After`. {@link RefusalDelays} explains this.
   *
   * @param connection any object that represents the connection
   * @param response emits `close` when the client has disconnected
   */
  async delay(connection: object, caller: string | undefined, response: EventEmitter): Promise<void> {
    if (!this.#isStopping) await this.#delays.wait(connection, caller, response);
  }

  /**
   * Counts a create that is in progress. The caller must call `endCreate` when the create has succeeded or failed. Throws
   * `overloaded`, and counts nothing, when too many creates are in progress.
   */
  beginCreate(): void {
    if (this.#creates >= CREATES_LIMIT) throw this.#refusal('creates', TOO_MANY_CREATES);
    this.#creates += 1;
  }

  endCreate(): void {
    this.#creates -= 1;
  }

  #refusal(reason: RefusalReason, error: HttpError): HttpError {
    this.#refused[reason] += 1;
    return error;
  }

  #tooManyRequests(seconds: number): HttpError {
    if (this.#tooMany?.seconds === seconds) return this.#tooMany.error;
    const message = `too many requests with this API key: retry after ${seconds} s`;
    const error = new HttpError('rate_limited', message, ['Retry-After', String(seconds)]);
    this.#tooMany = { seconds, error };
    return error;
  }
}

// These errors are created only once, because the stack of an error takes much of the time of a refusal.
const STOPPING = new HttpError('overloaded', 'the server is stopping');
const TOO_BUSY = new HttpError('overloaded', 'the server receives more requests than it can handle');
const TOO_MANY_CREATES = new HttpError('overloaded', 'too many pets are being stored');
