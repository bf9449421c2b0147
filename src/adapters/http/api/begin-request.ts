import type { Context, Stage } from './context.ts';
import { API_FIELDS } from './headers.ts';
import { NewRequest, type RequestSettings } from './request-state.ts';

/** Sets `ctx.state.animalStore`, and the header fields of every response. */
export function beginRequests(settings: RequestSettings): Stage {
  return (ctx, next) => {
    beginRequest(ctx, settings);
    return next();
  };
}

export function beginRequest(ctx: Context, settings: RequestSettings): void {
  const state = new NewRequest(ctx, settings);
  ctx.state.animalStore = state;
  // In another Koa app, its router may have set them.
  ctx.matched = undefined;
  ctx.params = {};
  for (const [name, value] of API_FIELDS) ctx.set(name, value);
  ctx.set('X-Request-Id', state.requestId);
}
