import type { RouterMiddleware } from '@koa/router';
import type { Load } from './overload.ts';
import type { ApiState } from './state.ts';

/** Sends `Connection: close` with the last response of a connection, which is known when the response is. */
export function closeLast(load: Load): RouterMiddleware<ApiState> {
  return async (ctx, next) => {
    await next();
    if (!ctx.headerSent && load.isLast(ctx.res)) ctx.res.shouldKeepAlive = false;
  };
}
