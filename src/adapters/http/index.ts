/** The entry point `animal-store/http`: the HTTP API of an {@link AnimalStore}, as a Koa app or as a server. */

import type Koa from 'koa';
import { createApi } from './api/app.ts';
import type { HttpOptions, HttpStore } from './api/options.ts';
import { type HttpServer, type HttpServerOptions, SERVER_OPTIONS } from './api/options.ts';
import { createApp } from './koa/app.ts';
import { KOA_CARRIER } from './koa/carrier.ts';
import { createMiddleware, type MiddlewareOptions } from './koa/middleware.ts';
import { createNodeServer } from './node/server.ts';

export type { TrustedProxies } from './api/client-address.ts';
export { sunsetNotice } from './api/deprecation.ts';
export type { RequestObserver, RequestOutcome } from './api/observe.ts';
export type {
  HttpOptions,
  HttpServer,
  HttpServerOptions,
  HttpStore,
  KeyVerifier,
  MetricsText,
  ServerLimits,
  ServerStatistics,
} from './api/options.ts';
export type { RateLimit } from './api/shared-limits.ts';
export type { UserMiddleware, UserMiddlewares } from './api/user-middleware.ts';
export { openApiDocument } from './docs/openapi.ts';
export type { MiddlewareOptions } from './koa/middleware.ts';

/**
 * Creates the API as a Koa app for an existing server. `app.callback()` returns a function that handles requests under
 * `/v1` and to the public paths, such as `/docs`. The server must call this function before anything reads the body of
 * the request. The app itself does not need to be closed. The caller closes the store.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createAnimalStore } from 'animal-store';
 * import { createHttpApp } from 'animal-store/http';
 *
 * const store = await createAnimalStore({ database: 'memory:' });
 * const server = createServer(createHttpApp(store).callback());
 * server.listen(0, '127.0.0.1', async () => {
 *   server.close();
 *   await store.close();
 * });
 * ```
 */
export function createHttpApp(store: HttpStore, options: HttpOptions = {}): Koa {
  return createApp(createApi(store, options, KOA_CARRIER));
}

/**
 * Creates the API as a middleware for your own Koa app. It responds to `/v1` and the paths below it, and to other paths only
 * if an option says so; for all others it calls `next`, and neither changes nor counts the request. It must stand in front of
 * a middleware that parses bodies, and outside it, a middleware can still change the response.
 *
 * @example
 * ```ts
 * import Koa from 'koa';
 * import { createAnimalStore } from 'animal-store';
 * import { animalStore } from 'animal-store/http';
 *
 * const store = await createAnimalStore({ database: 'memory:' });
 * const app = new Koa();
 * app.use(animalStore(store));
 * app.use((ctx) => {
 *   ctx.body = 'the rest of the site';
 * });
 * const server = app.listen(0, '127.0.0.1', async () => {
 *   server.close();
 *   await store.close();
 * });
 * ```
 */
export function animalStore(store: HttpStore, options: MiddlewareOptions = {}): Koa.Middleware {
  return createMiddleware(store, options);
}

/**
 * Creates the API as an HTTP server that stops gracefully. The caller closes the store after the server has stopped.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { createServer } from 'animal-store/http';
 *
 * const store = await createAnimalStore({ database: 'memory:' });
 * const server = createServer(store);
 * const url = await server.listen(0, '127.0.0.1');
 * const response = await fetch(`${url}/v1/pets`);
 * console.log(response.status); // 401
 * await server.stop(1000);
 * await store.close();
 * ```
 */
export function createServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  const api = createApi(store, options, KOA_CARRIER, SERVER_OPTIONS);
  return createNodeServer(createApp(api).callback(), api, options);
}
