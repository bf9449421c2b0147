/** Limits the number of requests in flight, and counts what the server refuses. */

import type { ServerResponse } from 'node:http';
import { AnimalStoreError } from '../../domain/errors.ts';
import { isHealthCheck, METRICS_PATH } from './paths.ts';
import type { ApiMiddleware } from './state.ts';

/** The maximum number of requests in flight: twice the maximum number of writes in a batch of a SQLite store. */
const REQUESTS_LIMIT = 2000;

/** The load of a server: requests in flight, and the numbers of refused requests. */
export class Load {
  /** The numbers of refused requests and connections, by reason. */
  readonly refused = { overloaded: 0, rate_limited: 0, max_connections: 0 };
  isStopping = false;
  inFlight = 0;
  /** Returns whether a response must close its connection. `createNodeServer` replaces this default. */
  isLast: (res: ServerResponse) => boolean = () => false;

  /** Refuses requests above the limit, except health checks and metrics, which are needed most during overload. */
  readonly guard: ApiMiddleware = async (ctx, next) => {
    const { path } = ctx.state.animalStore;
    if (this.inFlight >= REQUESTS_LIMIT && path !== METRICS_PATH && !isHealthCheck(path)) {
      this.refused.overloaded += 1;
      throw TOO_MANY_REQUESTS;
    }
    this.inFlight += 1;
    try {
      await next();
    } finally {
      this.inFlight -= 1;
    }
  };
}

/** Created once, because creating an error and its stack trace for each refusal would be slow. */
const TOO_MANY_REQUESTS = new AnimalStoreError(
  'overloaded',
  'the server receives more requests than it can handle',
);

/**
 * Sends `Connection: close` with the last response of a connection. Whether a response is the last one is decided
 * only when it is ready, because another request can arrive before then.
 */
export function closeLast(load: Load): ApiMiddleware {
  return async (ctx, next) => {
    await next();
    if (!ctx.headerSent && load.isLast(ctx.res)) ctx.res.shouldKeepAlive = false;
  };
}
