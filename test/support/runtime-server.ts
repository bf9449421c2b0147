/** The server of the runtime in which the tests run, if it is Bun or Deno. */

import type { Api } from '../../src/adapters/http/api/api.ts';
import type { HttpServer } from '../../src/adapters/http/api/server-options.ts';
import { listenOnBun } from '../../src/adapters/http/fetch/server/bun.ts';
import { listenOnDeno } from '../../src/adapters/http/fetch/server/deno.ts';
import { FetchServer } from '../../src/adapters/http/fetch/server/fetch-server.ts';

/** The runtime in which the tests run. */
export const RUNTIME: 'node' | 'bun' | 'deno' =
  'Bun' in globalThis ? 'bun' : 'Deno' in globalThis ? 'deno' : 'node';

/** Creates a server of Bun or Deno. Returns `undefined` on Node.js. */
export function createRuntimeServer(api: Api): HttpServer | undefined {
  if (RUNTIME === 'node') return undefined;
  return new FetchServer(api, RUNTIME === 'bun' ? listenOnBun : listenOnDeno);
}
