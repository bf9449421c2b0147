import { AnimalStoreError } from '../../../domain/errors.ts';
import type { Stage } from './context.ts';
import type { Refused } from './load.ts';
import { type RateLimit, RateLimiter } from './rate-limiter.ts';
import { bucketsOf, type ServerThread } from './shared-limits.ts';

const METRICS_LIMIT: RateLimit = { requests: 10, seconds: 1 };

/**
 * Limits the rate of the requests of each caller. Metrics have a limit of their own, because they are needed most while
 * other requests are refused.
 *
 * @param refused counts the refused requests
 * @param thread set if several servers share the limits
 */
export function limitRate(
  limit: RateLimit | undefined,
  metricsPath: string | undefined,
  refused: Refused,
  thread?: ServerThread,
): Stage {
  const limiter = limit && new RateLimiter(limit, bucketsOf('requests', thread));
  const metricsLimiter = new RateLimiter(METRICS_LIMIT, bucketsOf('metrics', thread));
  return (ctx, next) => {
    const { callerId, path } = ctx.state.animalStore;
    const used = path === metricsPath ? metricsLimiter : limiter;
    const wait = used === undefined || callerId === undefined ? 0 : used.takeToken(callerId);
    if (wait === 0) return next();
    refused.rate += 1;
    const retryAfter = Math.ceil(wait / 1000);
    const message = `too many requests with this API key: retry after ${retryAfter} s`;
    throw new AnimalStoreError('rate_limited', message, { retryAfter });
  };
}
