import type { Observer } from '../../../application/ports/observer.ts';
import type { Stage } from './context.ts';
import { API_FIELDS } from './headers.ts';
import { NewRequest, type RequestSettings } from './request-state.ts';
import { unmatchedPath } from './unmatched-path.ts';

/** Begins each request and its response, and tells the observers about them when the response is sent. */
export function observe(observer: Observer, settings: RequestSettings): Stage {
  return async (ctx, next) => {
    const state = new NewRequest(ctx, settings);
    ctx.state.animalStore = state;
    // In another Koa app, its router may have set them.
    ctx.matched = undefined;
    ctx.params = {};
    for (const [name, value] of API_FIELDS) ctx.set(name, value);
    ctx.set('X-Request-Id', state.requestId);
    await next();
    if (observer.onRequest === undefined) return;
    const aborted = settings.needsAddress && ctx.res.destroyed ? true : undefined;
    const report = (): void => {
      const { route } = state;
      observer.onRequest?.({
        method: ctx.method,
        route,
        path: route === undefined ? unmatchedPath(ctx.url) : undefined,
        status: ctx.status,
        ms: Math.round((performance.now() - state.startedAt) * 1000) / 1000,
        requestId: state.requestId,
        keyId: state.holder?.id,
        address: settings.needsAddress ? state.address : undefined,
        aborted,
        traceparent: state.traceparent,
      });
    };
    if (ctx.onceSent === undefined) report();
    else ctx.onceSent(report);
  };
}
