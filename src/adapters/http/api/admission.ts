import { AnimalStoreError } from '../../../domain/errors.ts';
import { HttpError } from './errors.ts';
import { type RateLimit, RateLimiter } from './rate-limiter.ts';
import { type DelayedRequest, RefusalDelays } from './refusal-delays.ts';
import type { ServerThread } from './shared-limits.ts';
import { SlowClients } from './slow-clients.ts';
import { type QueuedRequest, TurnQueue } from './turn-queue.ts';

/** Clients without an API key are held back after this waiting time of {@link TurnQueue}, in milliseconds. */
const CROWDED_TIME = 10;

/**
 * Requests are refused after this time: with an API key that was valid when it was last used, and without one. The first
 * request of a new client waits rather than being refused because of those that are held back.
 */
const BUSY_TIME = 200;
const BUSY_TIME_OF_STRANGERS = 500;

/** The maximum number of `Authorization` fields that are known to be valid. */
const KNOWN_LIMIT = 1_000;

/** The maximum number of creates in progress: twice as many as the largest transaction of SQLite stores. */
const CREATES_LIMIT = 2_000;

/** The maximum number of request bodies that arrive at the same time. Each of them takes up to 64 KiB. */
const BODIES_LIMIT = 1000;

/**
 * Decides which requests are handled. All limits on the load of the server are here, except for the limits on connections
 * and on the queues of a storage.
 */
export class Admission {
  readonly refused = { busy: 0, creates: 0, rate: 0, stopping: 0 };
  readonly bodies: SlowClients;
  isStopping = false;
  /** The requests with an API key that was valid when it was last used, and all others. Each queue has its own time. */
  readonly #known = new TurnQueue();
  readonly #strangers = new TurnQueue();
  /** The `Authorization` fields of the keys that were valid when they were last used. */
  readonly #valid = new Set<string>();
  readonly #delays = new RefusalDelays();
  /** A health check does not wait because its connection has also got a refusal. */
  readonly #healthDelays = new RefusalDelays();
  readonly #rateLimiter: RateLimiter | undefined;
  readonly #metricsLimiter = new RateLimiter({ requests: 10, seconds: 1 });
  readonly #createsLimit: number;
  #isRefusing = false;
  #creates = 0;
  #tooMany: AnimalStoreError | undefined;

  /** @param thread set if several servers share the limits */
  constructor(rateLimit?: RateLimit, thread?: ServerThread) {
    const servers = thread?.count ?? 1;
    this.bodies = new SlowClients(Math.ceil(BODIES_LIMIT / servers));
    this.#createsLimit = Math.ceil(CREATES_LIMIT / servers);
    this.#rateLimiter = rateLimit && new RateLimiter(rateLimit, thread?.memory);
  }

  /** Requests that clients have sent before they learn of the stop are still admitted. */
  stop(): void {
    this.isStopping = true;
    this.#delays.end();
    this.#healthDelays.end();
  }

  /** From now on, every request under `/v1` is refused. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /** Whether requests wait for so long that clients without an API key are held back, before any request is refused. */
  get isCrowded(): boolean {
    return Math.max(this.#strangers.waitingTime, this.#known.waitingTime) >= CROWDED_TIME;
  }

  /** Whether requests with this `Authorization` field wait for so long that they must be refused. */
  isTooBusy(authorization: string | undefined): boolean {
    return this.#isKnown(authorization)
      ? this.#known.waitingTime >= BUSY_TIME
      : this.#strangers.waitingTime >= BUSY_TIME_OF_STRANGERS;
  }

  enter(request: QueuedRequest, authorization: string | undefined): Promise<void> | undefined {
    return (this.#isKnown(authorization) ? this.#known : this.#strangers).enter(request);
  }

  /** Sets whether the API key in this `Authorization` field is valid. */
  setKnown(authorization: string, isValid: boolean): void {
    if (!isValid) this.#valid.delete(authorization);
    else if (!this.#valid.has(authorization)) {
      if (this.#valid.size >= KNOWN_LIMIT) this.#valid.clear();
      this.#valid.add(authorization);
    }
  }

  #isKnown(authorization: string | undefined): boolean {
    return authorization !== undefined && this.#valid.has(authorization);
  }

  /** @param isTooBusy the value of `isTooBusy` when the request arrived */
  refusalOf(method: string, caller: string | undefined, isTooBusy: boolean): Error | undefined {
    if (this.#isRefusing && caller !== undefined) return this.#refusal('stopping', STOPPING);
    if (isTooBusy) return this.#refusal('busy', TOO_BUSY);
    if (caller === undefined) return undefined;
    if (method === 'POST' && this.#creates >= this.#createsLimit)
      return this.#refusal('creates', TOO_MANY_CREATES);
    return this.#rateRefusalOf(this.#rateLimiter, caller);
  }

  /** As `refusalOf`, for metrics. They are needed most while other requests are refused, so only their rate is limited. */
  metricsRefusalOf(caller: string): Error | undefined {
    return this.#rateRefusalOf(this.#metricsLimiter, caller);
  }

  /**
   * Returns a promise that resolves when a response may be sent, or `undefined` if it may be sent immediately. While the
   * server is crowded, all responses to clients without an API key can be delayed, and otherwise only refusals.
   */
  delayResponse(
    request: DelayedRequest,
    caller: string | undefined,
    isOverload: boolean,
    isHealthCheck = false,
  ): Promise<void> | undefined {
    const isDelayed = isOverload || (caller === undefined && this.isCrowded);
    if (!isDelayed || this.isStopping) return undefined;
    return (isHealthCheck ? this.#healthDelays : this.#delays).wait(request, caller);
  }

  /** Counts a create until `endCreate` is called. Throws `overloaded`, and counts nothing, when there are too many. */
  beginCreate(): void {
    if (this.#creates >= this.#createsLimit) throw this.#refusal('creates', TOO_MANY_CREATES);
    this.#creates += 1;
  }

  endCreate(): void {
    this.#creates -= 1;
  }

  #rateRefusalOf(limiter: RateLimiter | undefined, caller: string): Error | undefined {
    const seconds = Math.ceil((limiter?.takeToken(caller) ?? 0) / 1000);
    if (seconds === 0) return undefined;
    if (this.#tooMany?.retryAfter !== seconds) {
      const message = `too many requests with this API key: retry after ${seconds} s`;
      this.#tooMany = new AnimalStoreError('rate_limited', message, { retryAfter: seconds });
    }
    return this.#refusal('rate', this.#tooMany);
  }

  #refusal(reason: keyof typeof this.refused, error: Error): Error {
    this.refused[reason] += 1;
    return error;
  }
}

// These errors are created only once, because the stack of an error takes much of the time of a refusal.
const STOPPING = new HttpError('overloaded', 'the server is stopping');
const TOO_BUSY = new HttpError('overloaded', 'the server receives more requests than it can handle');
const TOO_MANY_CREATES = new HttpError('overloaded', 'too many pets are being stored');
