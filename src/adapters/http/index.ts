/** The entry point `animal-store/http`: the HTTP API of an {@link AnimalStore}, as a Koa app or as a server. */

import type Koa from 'koa';
import compose from 'koa-compose';
import { BOOLEAN } from '../../application/arguments.ts';
import { createApi, createApp } from './app.ts';
import { servedOperations } from './lifecycle.ts';
import { methodsOf } from './operations.ts';
import {
  HTTP_OPTIONS,
  type HttpOptions,
  type HttpServer,
  type HttpServerOptions,
  type HttpStore,
  SERVER_OPTIONS,
} from './options.ts';
import { isHealthCheck, METRICS_PATH, needsApiKey, pathOf } from './paths.ts';
import { createNodeServer } from './server.ts';

export type { RequestObserver, RequestOutcome } from '../../application/ports/request-observer.ts';
export { createHttpApp } from './app.ts';
export * from './portable.ts';

/** Returns the HTTP methods that a server with these options supports, for the labels of metrics. */
export function supportedMethods(options: HttpOptions = {}): readonly string[] {
  return methodsOf(servedOperations(options));
}

/** The options of {@link animalStore}. The middleware serves `/metrics` if the option `metrics` is set. */
export interface MiddlewareOptions extends Omit<HttpOptions, 'trustedProxies'> {
  /** Whether the middleware serves `/docs` and `/openapi.json`. Default: `false`. */
  readonly docs?: boolean | undefined;
  /** Whether the middleware serves `/livez` and `/readyz`. Default: `false`. */
  readonly health?: boolean | undefined;
}

/**
 * Creates the API as a middleware for your own Koa app, whose `proxy` and `maxIpsCount` apply. It responds to `/v1`, to the paths
 * below it, and to the paths that its options add. For every other path, it only calls `next`. It must come before a middleware
 * that parses bodies.
 */
export function animalStore(store: HttpStore, options: MiddlewareOptions = {}): Koa.Middleware {
  const refused = { expected: 'the properties proxy and maxIpsCount of your Koa app', accepts: () => false };
  const rules = { ...HTTP_OPTIONS, trustedProxies: refused, docs: BOOLEAN, health: BOOLEAN };
  const { stages } = createApi(store, options, rules);
  const { docs = false, health = false, metrics } = options;
  const handle = compose([...stages] as Koa.Middleware[]);
  const isOurs = (path: string): boolean =>
    needsApiKey(path) ||
    (docs && (path === '/openapi.json' || path === '/docs' || path.startsWith('/docs/'))) ||
    (health && isHealthCheck(path)) ||
    (metrics !== undefined && path === METRICS_PATH);
  return (ctx, next) => (isOurs(pathOf(ctx)) ? handle(ctx, next) : next());
}

/** Creates the API as an HTTP server that stops gracefully. The caller closes the store after the server has stopped. */
export function createServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  const api = createApi(store, options, SERVER_OPTIONS);
  return createNodeServer(createApp(api, options).callback(), api, options);
}
