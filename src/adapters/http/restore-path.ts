import type { RouterMiddleware } from '@koa/router';
import type { ApiState } from './state.ts';

/** Lets the router see the path whose API key was checked, whatever a host or a middleware has rewritten since. */
export const restorePath: RouterMiddleware<ApiState> = (ctx, next) => {
  ctx.path = ctx.state.animalStore.path;
  ctx.newRouterPath = '';
  return next();
};
