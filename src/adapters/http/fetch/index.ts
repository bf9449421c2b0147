/** The entry point `animal-store/fetch`: the HTTP API of an {@link AnimalStore}, as a function from a `Request` to a `Response`. */

import { createApi } from '../api/app.ts';
import type { HttpOptions, HttpStore } from '../api/options.ts';
import { createHandler, FETCH_CARRIER, type FetchHandler } from './handler.ts';

export type { TrustedProxies } from '../api/client-address.ts';
export type { RequestObserver, RequestOutcome } from '../api/observe.ts';
export type { HttpOptions, HttpStore, KeyVerifier, MetricsText } from '../api/options.ts';
export type { RateLimit } from '../api/shared-limits.ts';
export type { FetchInfo } from './context.ts';
export type { FetchHandler } from './handler.ts';

/**
 * Creates the API as a function from a `Request` to the promise of a `Response`, for `Bun.serve`, `Deno.serve`, and
 * frameworks that use these classes. The function responds to every path, and must be called before anything reads the
 * body of the request. The caller closes the store.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { createFetchHandler } from 'animal-store/fetch';
 *
 * await using store = await createAnimalStore({ database: 'memory:' });
 * const handle = createFetchHandler(store);
 * const response = await handle(new Request('http://localhost/v1/pets'));
 * console.log(response.status); // 401
 * ```
 */
export function createFetchHandler(store: HttpStore, options: HttpOptions = {}): FetchHandler {
  return createHandler(createApi(store, options, FETCH_CARRIER));
}
