/** The entry point `animal-store/http`: the HTTP API of an {@link AnimalStore}, as a Koa app or as a server. */

import Koa from 'koa';
import compose from 'koa-compose';
import { BOOLEAN } from '../../application/arguments.ts';
import { type Api, createApi } from './app.ts';
import { type Context, isHealthCheck, METRICS_PATH, needsApiKey, pathOf } from './context.ts';
import { readNodeBytes } from './node-body.ts';
import {
  HTTP_OPTIONS,
  type HttpOptions,
  type HttpServer,
  type HttpServerOptions,
  type HttpStore,
  SERVER_OPTIONS,
} from './options.ts';
import { createNodeServer } from './server.ts';

export type { RequestObserver, RequestOutcome } from '../../application/ports/request-observer.ts';
export { SERVER_METHODS } from './operations.ts';
export * from './portable.ts';

/**
 * Creates the API as a Koa app for an existing server. `app.callback()` returns a function that handles requests under
 * `/v1` and to the public paths, such as `/docs`. The server must call this function before anything reads the body of
 * the request. The app itself does not need to be closed. The caller closes the store.
 */
export function createHttpApp(store: HttpStore, options: HttpOptions = {}): Koa {
  return createApp(createApi(store, options, readNodeBytes), options);
}

function createApp({ stages }: Api, { trustedProxies = 0 }: HttpOptions): Koa {
  // Koa reads `maxIpsCount: 0` as no limit.
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  for (const stage of stages) app.use(stage as Koa.Middleware);
  // Koa reports the errors of connections too, which are no fault of the program.
  app.on('error', (error: unknown, ctx?: Context) => {
    const { failure, requestId } = ctx?.state.animalStore ?? {};
    if (app.listenerCount('error') === 1 && failure === error) console.error(`request ${requestId}:`, error);
  });
  return app;
}

/** The options of {@link animalStore}. The path `/metrics` belongs to the middleware if the option `metrics` is set. */
export interface MiddlewareOptions extends Omit<HttpOptions, 'trustedProxies'> {
  /** Whether `/docs` and `/openapi.json` belong to the middleware. Default: `false`. */
  readonly docs?: boolean | undefined;
  /** Whether `/livez` and `/readyz` belong to the middleware. Default: `false`. */
  readonly health?: boolean | undefined;
}

/**
 * Creates the API as a middleware for your own Koa app, whose `proxy` and `maxIpsCount` count. It responds to `/v1` and the
 * paths below it, and to other paths only if an option says so; for all others it only calls `next`. It must stand in front
 * of a middleware that parses bodies.
 */
export function animalStore(store: HttpStore, options: MiddlewareOptions = {}): Koa.Middleware {
  const rules = { ...HTTP_OPTIONS, docs: BOOLEAN, health: BOOLEAN };
  const { stages } = createApi(store, options, readNodeBytes, rules);
  const { docs = false, health = false, metrics } = options;
  const handle = compose([...stages] as Koa.Middleware[]);
  const isOurs = (path: string): boolean =>
    needsApiKey(path) ||
    (docs && (path === '/openapi.json' || path === '/docs' || path.startsWith('/docs/'))) ||
    (health && isHealthCheck(path)) ||
    (metrics !== undefined && path === METRICS_PATH);
  return (ctx, next) => (isOurs(pathOf(ctx)) ? handle(ctx) : next());
}

/** Creates the API as an HTTP server that stops gracefully. The caller closes the store after the server has stopped. */
export function createServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  const api = createApi(store, options, readNodeBytes, SERVER_OPTIONS);
  return createNodeServer(createApp(api, options).callback(), api, options);
}
