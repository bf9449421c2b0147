/** The entry point `animal-store/http`: the HTTP API of an {@link AnimalStore}, as a Koa app or as a server. */

import type Koa from 'koa';
import { Api } from './api/api.ts';
import type { HttpOptions, HttpStore } from './api/options.ts';
import { type HttpServer, type HttpServerOptions, SERVER_OPTIONS } from './api/server-options.ts';
import { createApp } from './koa/app.ts';
import { createMatcher } from './koa/router.ts';
import { createNodeServer } from './node/server.ts';

export type { Observer, RequestOutcome } from '../../application/ports/observer.ts';
export type { ServerStatistics } from '../../application/ports/statistics.ts';
export type { TrustedProxies } from './api/client-address.ts';
export { sunsetNotice } from './api/deprecation.ts';
export type { HttpOptions, HttpStore, MetricsText } from './api/options.ts';
export type { RateLimit } from './api/rate-limiter.ts';
export type { HttpServer, HttpServerOptions, ServerLimits } from './api/server-options.ts';
export { openApiDocument } from './docs/openapi.ts';

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
  return createApp(new Api(store, options, createMatcher));
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
  const api = new Api(store, options, createMatcher, SERVER_OPTIONS);
  return createNodeServer(createApp(api).callback(), api, options);
}
