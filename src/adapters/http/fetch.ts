/** The entry point `animal-store/fetch`: the HTTP API of an {@link AnimalStore}, as a function from a `Request` to a `Response`. */

import compose from 'koa-compose';
import { createApi } from './app.ts';
import { bodyRead, type ReadBytes, readChunks } from './body.ts';
import type { Context, Stage } from './context.ts';
import { FetchContext, type FetchInfo } from './fetch-context.ts';
import type { HttpOptions, HttpStore } from './options.ts';

export type { RequestObserver, RequestOutcome } from '../../application/ports/request-observer.ts';
export type { FetchInfo } from './fetch-context.ts';
export type { HttpOptions, HttpStore, KeyVerifier, MetricsText } from './options.ts';
export type { RateLimit } from './rate-limit.ts';

/** Responds to a request, also if it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

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
  const { stages } = createApi(store, options, readBytes);
  const run = compose(stages as Stage[]) as (ctx: Context) => Promise<void>;
  return async (request, info = {}) => {
    const ctx = new FetchContext(request, info, options.trustedProxies);
    await run(ctx);
    return ctx.respond();
  };
}

const readBytes: ReadBytes = async (ctx) => {
  const { original } = ctx as FetchContext;
  if (original.bodyUsed) throw bodyRead();
  return original.body === null ? new Uint8Array() : readChunks(original.body);
};
