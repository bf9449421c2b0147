/** The API: a list of Koa middleware. */

import Koa from 'koa';
import { checkArgument, checkOptions, type OptionRules } from '../../application/arguments.ts';
import { failureReporter, fenced, joinObservers, type ReportFailure } from '../../application/observers.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { authenticate } from './authentication.ts';
import { checkHead } from './check-head.ts';
import { cors } from './cors.ts';
import { deprecation } from './deprecation.ts';
import { pathPrefixOf } from './docs/openapi.ts';
import { CHANGES_OPTION, servedOperations } from './lifecycle.ts';
import { guest, observe } from './observe.ts';
import { methodsOf } from './operations.ts';
import { CHANGING_STORE, HTTP_OPTIONS, HTTP_STORE, type HttpOptions, type HttpStore } from './options.ts';
import { closeLast, Load } from './overload.ts';
import { restorePath } from './paths.ts';
import { limitRate } from './rate-limit.ts';
import { refuseUnrouted } from './refuse-unrouted.ts';
import { createRouter } from './routes.ts';
import type { ApiMiddleware, ApiState } from './state.ts';

export interface Api {
  /** The outermost stage comes first. */
  readonly stages: readonly ApiMiddleware[];
  readonly methods: readonly string[];
  readonly load: Load;
  readonly observer: RequestObserver;
  readonly reportFailure: ReportFailure;
}

/** Creates the API. The `rules` check the options. A server and a middleware have more options, so they pass their own rules. */
export function createApi(
  store: HttpStore,
  options: HttpOptions,
  rules: OptionRules<HttpOptions> = HTTP_OPTIONS,
): Api {
  checkArgument('store', store, HTTP_STORE);
  checkOptions(options, rules);
  const { apiKeys, corsOrigins = [], metrics, middleware, observers = [], publicUrl, rateLimit } = options;
  const operations = servedOperations(options);
  if (operations.some(({ id }) => id === 'changePet')) {
    if (!store.canChangePets) throw invalidRequest(`${CHANGES_OPTION} is not supported by this storage`);
    checkArgument('store', store, CHANGING_STORE);
  }
  if (apiKeys === undefined && store.hasApiKeys === false)
    throw invalidRequest('apiKeys: expected a verifier of keys, because the storage has no keys');
  const methods = methodsOf(operations);
  const prefix = pathPrefixOf(publicUrl);
  const observer = joinObservers(observers);
  const load = new Load();
  const verifier = apiKeys ?? { verify: store.verifyApiKey.bind(store) };
  // If `hasPartOfKey` fails, or does not return a boolean, the text is treated as a secret.
  const isPartOfKey = (text: string): boolean =>
    apiKeys?.hasPartOfKey !== undefined && fenced(() => apiKeys.hasPartOfKey?.(text)) !== false;
  const router = createRouter(operations, store, prefix, load, options);

  const stages: readonly ApiMiddleware[] = [
    closeLast(load), // Connection: close on the last response of each connection, during a stop
    observe(observer, isPartOfKey), // request id, the Error body, notification of observers
    deprecation(prefix, operations, { docs: !('docs' in rules), ...options }), // fields of deprecated operations, also on errors
    ...(corsOrigins.length > 0 ? [cors(corsOrigins, methods)] : []), // before errors can happen, so that a browser can read them
    load.guard, // 503
    ...(middleware?.beforeKey ?? []).map(guest), // middleware of the user
    authenticate(verifier, metrics !== undefined), // 401, before any response discloses which paths exist under /v1
    ...(rateLimit ? [limitRate(rateLimit, load)] : []), // 429
    checkHead, // 400: requests that HTTP forbids
    ...(middleware?.afterKey ?? []).map(guest), // middleware of the user
    restorePath, // a path that a host program has rewritten must not bypass the API key
    router.routes(), // 403, 415, 413, 400, the handler
    refuseUnrouted(operations), // OPTIONS, 405, 404
  ];
  return { stages, methods, load, observer, reportFailure: failureReporter(observers) };
}

/**
 * Creates the API as a Koa app for an existing server. `app.callback()` returns a function that serves `/v1`, the paths
 * below it, and others, such as `/docs`. Unknown paths get 404. The server must call the callback before
 * anything reads the body of the request. The app itself does not need to be closed. The caller closes the store.
 */
export function createHttpApp(store: HttpStore, options: HttpOptions = {}): Koa {
  return createApp(createApi(store, options), options);
}

export function createApp({ stages, reportFailure }: Api, { trustedProxies = 0 }: HttpOptions): Koa {
  // Without proxies, `proxy` must be false, because Koa treats `maxIpsCount: 0` as no limit.
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  for (const stage of stages) app.use(stage);
  type Context = { state: Partial<ApiState>; body?: { errored?: unknown } | null };
  // Koa also emits this event for errors of connections. Such errors are not faults of the program, and are not printed.
  app.on('error', (error: unknown, ctx?: Context) => {
    const { failure, requestId } = ctx?.state.animalStore ?? {};
    if (ctx?.body?.errored === error) reportFailure('the stream of a response body', error);
    if (app.listenerCount('error') === 1 && failure === error) console.error(`request ${requestId}:`, error);
  });
  return app;
}
