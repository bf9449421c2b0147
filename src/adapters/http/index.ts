/** The entry point `animal-store/http`: the HTTP API of an {@link AnimalStore}, as a Koa app or as a server. */

import type Koa from 'koa';
import { combineObservers } from '../../application/observers.ts';
import { Admission } from './api/admission.ts';
import type { HttpOptions, HttpStore } from './api/options.ts';
import { createApp } from './koa/app.ts';
import { createNodeServer, type HttpServer, type ServerLimits } from './node/server.ts';

export type { Observer, RequestOutcome } from '../../application/ports/observer.ts';
export { sunsetNotice } from './api/deprecation.ts';
export type { HttpOptions, HttpStore } from './api/options.ts';
export type { HttpServer, ServerLimits } from './node/server.ts';
export { openApiDocument } from './openapi/document.ts';

/** The options of {@link createServer}. */
export interface HttpServerOptions extends HttpOptions, ServerLimits {}

/**
 * Creates the API as a Koa app for an existing server. `app.callback()` returns a function that handles requests under
 * `/v1` and to the public paths, such as `/docs`. The server must call this function before anything reads the body of
 * the request. The app itself does not need to be closed. The caller closes the store.
 */
export function createHttpApp(store: HttpStore, options: HttpOptions = {}): Koa {
  return createApp(store, new Admission(), {
    ...options,
    observer: combineObservers(options.observers ?? []),
  });
}

/**
 * Creates the API as an HTTP server that stops gracefully. The caller closes the store after the server has stopped.
 */
export function createServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  const admission = new Admission();
  const observer = combineObservers(options.observers ?? []);
  const app = createApp(store, admission, { ...options, observer });
  return createNodeServer(app.callback(), admission, { ...options, observer });
}
