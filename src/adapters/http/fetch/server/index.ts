/** The servers of Bun and of Deno, each of which works on its own runtime only. */

import { Api } from '../../api/api.ts';
import type { HttpStore } from '../../api/options.ts';
import { matchTemplates } from '../../api/path-templates.ts';
import { type HttpServer, type HttpServerOptions, SERVER_OPTIONS } from '../../api/server-options.ts';
import { listenOnBun } from './bun.ts';
import { listenOnDeno } from './deno.ts';
import { FetchServer } from './fetch-server.ts';

/** Creates the API as a server of Bun that stops gracefully. Most of the limits for slow clients have no effect. */
export function createBunServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  return new FetchServer(new Api(store, options, matchTemplates, SERVER_OPTIONS), listenOnBun);
}

/** Creates the API as a server of Deno that stops gracefully. The limits for slow clients have no effect. */
export function createDenoServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  return new FetchServer(new Api(store, options, matchTemplates, SERVER_OPTIONS), listenOnDeno);
}
