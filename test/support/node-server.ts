/** A server of Node.js whose requests are handled by a test, not by the API. */

import type { RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { createApi } from '../../src/adapters/http/app.ts';
import type { HttpServer, HttpServerOptions } from '../../src/adapters/http/options.ts';
import { createNodeServer } from '../../src/adapters/http/server.ts';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';

/** Starts such a server, which is stopped at the end of the test. */
export async function startNodeServer(
  handle: RequestListener,
  options: HttpServerOptions = {},
  host = '127.0.0.1',
): Promise<{ server: HttpServer; origin: string }> {
  const api = createApi(new AnimalStore(openMemoryStorage()), {});
  const server = createNodeServer(handle, api, options);
  onTestFinished(() => server.stop(0));
  return { server, origin: await server.listen(0, host) };
}
