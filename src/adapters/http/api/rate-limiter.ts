import type { Rule } from '../../../application/arguments.ts';

/** A limit on the rate of requests: at most `requests` at once, and on average `requests` in `seconds` seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export const RATE_LIMIT: Rule = {
  expected: 'a number of requests of 1 or more, and a number of seconds',
  accepts(value) {
    const { requests, seconds } = (value ?? {}) as RateLimit;
    return Number.isSafeInteger(requests) && requests >= 1 && Number.isFinite(seconds) && seconds > 0;
  },
};

/** The maximum number of callers whose requests are remembered. */
const CALLERS_LIMIT = 10_000;

/** Times are sums of rounded numbers. A difference of less than this number of milliseconds is a rounding error. */
const PRECISION = 0.001;

/**
 * Limits the rate of requests of each caller with a token bucket. The bucket of a caller is represented by the time at
 * which it will be full again. Beyond {@link CALLERS_LIMIT} callers, full buckets are forgotten first, and then the oldest
 * one. The times are read from `performance.now()`, so a change of the system clock has no effect.
 */
export class RateLimiter {
  readonly #period: number;
  readonly #interval: number;
  /** For each caller, the time at which its bucket is full. The callers are in the order of their first requests. */
  readonly #fullAt = new Map<string, number>();

  constructor({ requests, seconds }: RateLimit) {
    this.#period = seconds * 1000;
    this.#interval = this.#period / requests;
  }

  /** Takes a token of the caller and returns 0, or returns the milliseconds until the caller has one. */
  takeToken(caller: string): number {
    const now = performance.now();
    const known = this.#fullAt.get(caller);
    const fullAt = Math.max(known ?? now, now) + this.#interval;
    const wait = fullAt - now - this.#period;
    if (wait > PRECISION) return wait;
    if (known === undefined && this.#fullAt.size >= CALLERS_LIMIT) this.#forget(now);
    this.#fullAt.set(caller, fullAt);
    return 0;
  }

  /** Forgets the callers whose buckets are full, or the oldest caller when no bucket is full. */
  #forget(now: number): void {
    for (const [caller, fullAt] of this.#fullAt) {
      if (fullAt <= now) this.#fullAt.delete(caller);
    }
    const [oldest] = this.#fullAt.keys();
    if (oldest !== undefined && this.#fullAt.size >= CALLERS_LIMIT) this.#fullAt.delete(oldest);
  }
}
