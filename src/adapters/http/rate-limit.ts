/** Limits the rate of requests of each API key. */

import { AnimalStoreError } from '../../domain/errors.ts';
import { callerOf } from './authentication.ts';
import type { Load } from './overload.ts';
import { METRICS_PATH } from './paths.ts';
import type { ApiMiddleware } from './state.ts';

/** A limit on the rate of requests: `requests` per `seconds` seconds on average, in bursts of at most `requests`. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The maximum number of token buckets. Above it, the bucket that has gone longest without an accepted request is removed. */
const CALLERS_LIMIT = 16_384;

/** Refuses requests above the limit, except for metrics, which are needed most during overload. */
export function limitRate(limit: RateLimit, { refused }: Load): ApiMiddleware {
  const period = limit.seconds * 1000;
  const interval = period / limit.requests;
  /** The times at which the token buckets will be full, by caller, in the order of the callers' last accepted requests. */
  const buckets = new Map<string, number>();
  return (ctx, next) => {
    const caller = callerOf(ctx.state);
    if (caller === undefined || ctx.state.animalStore.path === METRICS_PATH) return next();
    const now = performance.now();
    const fullAt = Math.max(buckets.get(caller) ?? 0, now) + interval;
    const wait = fullAt - now - period;
    // Allows for rounding errors in sums of fractions.
    if (wait > 1e-3) {
      refused.rate_limited += 1;
      const retryAfter = Math.ceil(wait / 1000);
      const message = `too many requests with this API key: retry after ${retryAfter} s`;
      throw new AnimalStoreError('rate_limited', message, { retryAfter });
    }
    buckets.delete(caller);
    buckets.set(caller, fullAt);
    if (buckets.size > CALLERS_LIMIT) buckets.delete(buckets.keys().next().value ?? caller);
    return next();
  };
}
