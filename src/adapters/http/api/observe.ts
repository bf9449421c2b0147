import type { Stage } from './context.ts';
import type { RequestObserver } from './request-observer.ts';
import { unmatchedPath } from './unmatched-path.ts';

/**
 * Tells the observer about each response when it is sent.
 *
 * @param needsAddress whether an observer is told the address of the client, and whether it has disconnected
 */
export function observe(observer: RequestObserver, needsAddress: boolean): Stage {
  if (observer.onRequest === undefined) return (_, next) => next();
  return async (ctx, next) => {
    await next();
    const state = ctx.state.animalStore;
    const aborted = needsAddress && ctx.res.destroyed ? true : undefined;
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
        keyName: state.holder?.name,
        address: needsAddress ? state.address : undefined,
        aborted,
        traceparent: state.traceparent,
      });
    };
    if (ctx.onceSent === undefined) report();
    else ctx.onceSent(report);
  };
}
