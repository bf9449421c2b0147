/** The entry point `animal-store/fetch`: the HTTP API of an {@link AnimalStore}, as a function from a `Request` to a `Response`. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished, type Readable, type Writable } from 'node:stream';
import { createHttpApp } from './app.ts';
import { errorContent } from './errors.ts';
import { FetchRequest, FetchResponse } from './fetch-messages.ts';
import type { HttpOptions, HttpStore } from './options.ts';

export type { RequestObserver, RequestOutcome } from '../../application/ports/request-observer.ts';
export type { LifecycleOptions } from './lifecycle.ts';
export type { HttpOptions, HttpStore, KeyVerifier, MetricsText } from './options.ts';
export type { RateLimit } from './rate-limit.ts';

/** The facts about the connection of a request, which a `Request` does not contain. */
export interface FetchInfo {
  /** The IP address of the client, or of the last proxy. */
  readonly remoteAddress?: string | undefined;
  /** The port of the client. It is not used. */
  readonly remotePort?: number | undefined;
}

/** Responds to a request, even if handling it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/**
 * Creates the API as a function from a `Request` to the promise of a `Response`, for `Bun.serve`, `Deno.serve`, and frameworks that
 * use these classes. The function responds to every path, and must be called before anything reads the body of the request. The
 * caller closes the store.
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
  const handle = createHttpApp(store, options).callback();
  return (request, { remoteAddress = '' } = {}) =>
    new Promise((resolve, reject) => {
      const req: Readable = new FetchRequest(request, remoteAddress);
      const res = new FetchResponse(request.method, resolve);
      const abort = (): void => {
        res.destroy();
        req.destroy(new Error('the client has left'));
      };
      // On Deno, reading `request.signal` causes a warning, and the signal is aborted even after a complete response.
      const signal = 'Deno' in globalThis ? undefined : request.signal;
      signal?.addEventListener('abort', abort);
      finished(res, (error) => {
        signal?.removeEventListener('abort', abort);
        // A response can be destroyed before its head is sent.
        if (error) resolve(unexpectedError(request, res));
      });
      handle(req as IncomingMessage, res as Writable as ServerResponse).catch(reject);
    });
}

function unexpectedError({ method }: Request, res: FetchResponse): Response {
  const requestId = String(res.getHeader('X-Request-Id'));
  const { status, fields, body } = errorContent(undefined, requestId);
  const headers = { ...fields, 'X-Request-Id': requestId };
  return new Response(method === 'HEAD' ? null : body, { status, headers });
}
