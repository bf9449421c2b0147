/** The servers of Bun and of Deno, each of which works on its own runtime only. */

import { checkArgument, checkOptions } from '../../../../application/arguments.ts';
import { Api } from '../../api/api.ts';
import { HTTP_OPTIONS, HTTP_STORE, type HttpStore } from '../../api/options.ts';
import { matchTemplates } from '../../api/path-templates.ts';
import { type HttpServer, type HttpServerOptions, SERVER_LIMITS } from '../../api/server-options.ts';
import { listenOnBun } from './bun.ts';
import { listenOnDeno } from './deno.ts';
import { FetchServer } from './fetch-server.ts';

/** Creates the API as a server of Bun that stops gracefully. Most of the limits for slow clients have no effect. */
export function createBunServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  return new FetchServer(createApi(store, options), listenOnBun);
}

/** Creates the API as a server of Deno that stops gracefully. The limits for slow clients have no effect. */
export function createDenoServer(store: HttpStore, options: HttpServerOptions = {}): HttpServer {
  return new FetchServer(createApi(store, options), listenOnDeno);
}

function createApi(store: HttpStore, options: HttpServerOptions): Api {
  checkArgument('store', store, HTTP_STORE);
  checkOptions(options, { ...HTTP_OPTIONS, ...SERVER_LIMITS });
  return new Api(store, options, matchTemplates);
}
