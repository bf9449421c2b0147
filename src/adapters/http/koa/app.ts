/** The Koa app and its middleware. */

import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { Observer } from '../../../application/ports/observer.ts';
import type { Admission } from '../api/admission.ts';
import { bearerKey, invalidKey, needsApiKey } from '../api/authentication.ts';
import { addressOf } from '../api/client-address.ts';
import { deprecationHeaders } from '../api/deprecation.ts';
import { HttpError } from '../api/errors.ts';
import { isHealthCheck } from '../api/health.ts';
import { IncomingBodies } from '../api/incoming-bodies.ts';
import { refuseMalformed } from '../api/malformed.ts';
import { METRICS_PATH } from '../api/metrics.ts';
import type { HttpOptions, HttpStore } from '../api/options.ts';
import { pathPrefixOf } from '../api/public-url.ts';
import { requestIdOf } from '../api/request-id.ts';
import { apiRoutes, notFound, publicRoutes } from '../api/routes.ts';
import { allowOrigins } from './cors.ts';
import { KoaRequest } from './request.ts';
import { type AppState, type RequestState, respond, respondWithError } from './respond.ts';
import { router } from './router.ts';

/**
 * A Koa app that only runs the middleware and handles errors. The base class would also wait until the response is
 * finished, and send `ctx.body`. Both steps are unnecessary, because the function `respond` sends every response.
 */
class App extends Koa {
  handleRequest(ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> {
    return run(ctx).catch((error: unknown) => {
      if (ctx.respond !== false) respondWithError(ctx, error);
    });
  }
}

/** Creates the API as a Koa app. The app does not open a port, and does not need to be closed. */
export function createApp(
  store: HttpStore,
  admission: Admission,
  options: HttpOptions & { readonly observer: Observer },
): Koa {
  const { apiKeys, corsOrigins = [], observer, publicUrl, trustedProxies: proxies } = options;
  const prefix = pathPrefixOf(publicUrl);
  const app = new App();
  app.use(
    identify(app, {
      observer,
      proxies,
      bodies: new IncomingBodies(),
      isSecret: (text) => apiKeys?.hasPartOfKey?.(text) ?? false,
      deprecation: deprecationHeaders(prefix),
    }),
  );
  app.use(takeTurns(admission));
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins, admission));
  app.use(guard(store, admission, options));
  // A router compares the path of a request with its routes, one after another. The API routes have their own router,
  // which runs first. A request to the API is therefore never compared with the public routes.
  app.use(router(apiRoutes(store, admission, prefix)));
  app.use(router(publicRoutes(store, admission, options)));
  app.use(async (ctx) => respond(ctx, await notFound(new KoaRequest(ctx))));
  return app;
}

/** Creates the middleware that sets `ctx.state`: the request id, the start time and the address of the client. */
function identify(app: Koa, state: AppState): Middleware {
  const { isSecret, observer, proxies } = state;
  const isTimed = observer.onRequest !== undefined;
  const isAddressed = isTimed || observer.onError !== undefined;
  return (ctx, next) => {
    const { req, state: outerState } = ctx;
    const startedAt = isTimed ? performance.now() : 0;
    const address = isAddressed ? addressOf(req, proxies) : undefined;
    ctx.state = {
      app: state,
      requestId: requestIdOf(req, isSecret),
      startedAt,
      address,
      isTooBusy: false,
    } satisfies RequestState;
    return ctx.app === app ? next() : isolate(ctx, next, outerState);
  };
}

/**
 * Runs the other middleware of this app when this app is mounted in another Koa app, for example with koa-mount. The
 * errors and the `ctx.state` of this app do not reach the other app.
 */
async function isolate(ctx: Context, next: Next, outerState: Context['state']): Promise<void> {
  try {
    await next();
  } catch (error) {
    respondWithError(ctx, error);
  } finally {
    ctx.state = outerState;
  }
}

/**
 * Creates the middleware that lets requests wait for their turn. A request that will be refused, because the server is too
 * busy, does not wait. Health checks are never refused.
 */
function takeTurns(admission: Admission): Middleware {
  return (ctx, next) => {
    const { headers, socket } = ctx.req;
    const isTooBusy = admission.isTooBusy(headers.authorization) && !isHealthCheck(pathOf(ctx));
    (ctx.state as RequestState).isTooBusy = isTooBusy;
    const turn = isTooBusy ? undefined : admission.enter(socket, headers.authorization);
    return turn === undefined ? next() : turn.then(next);
  };
}

/**
 * Creates the middleware that checks the API key, and then refuses requests that must not be handled. The API key is
 * checked first. A client without a valid key gets status 401 for every path under `/v1`, and learns nothing else about
 * the API.
 */
function guard(store: HttpStore, admission: Admission, { apiKeys, metrics }: HttpOptions): Middleware {
  const verify = (key: string) => (apiKeys === undefined ? store.verifyApiKey(key) : apiKeys.verify(key));
  const delay = ({ req, res }: Context, caller?: string) => admission.delay(req.socket, caller, res);
  return async (ctx, next) => {
    const path = pathOf(ctx);
    const { isTooBusy } = ctx.state as RequestState;
    let caller: string | undefined;
    try {
      const isMetrics = metrics !== undefined && path === METRICS_PATH;
      if (isMetrics || needsApiKey(path)) {
        const holder = await verify(bearerKey(ctx.req));
        admission.setKnown(ctx.req.headers.authorization ?? '', holder !== undefined);
        if (holder === undefined) throw invalidKey();
        (ctx.state as RequestState).holder = holder;
        caller = holder.callerId ?? holder.id;
      }
      const refusal =
        isMetrics && caller !== undefined
          ? admission.metricsRefusalOf(caller)
          : admission.refusalOf(ctx.method, caller, isTooBusy);
      if (refusal !== undefined) throw refusal;
    } catch (error) {
      const isOverload = error instanceof HttpError && error.code === 'overloaded';
      if (isOverload || isTooBusy || (caller === undefined && admission.isCrowded)) await delay(ctx, caller);
      throw error;
    }
    if (caller === undefined && admission.isCrowded) await delay(ctx, caller);
    refuseMalformed(ctx.req);
    await next();
  };
}

function pathOf(ctx: Context): string {
  let path: string | null = null;
  try {
    // For the request target `http://`, `ctx.path` is null, although the declared type is `string`.
    path = ctx.path;
  } catch {}
  if (path === null) throw new HttpError('invalid_request', 'the request target is not a URL');
  return path;
}
