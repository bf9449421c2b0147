/** The API: a list of Koa middleware. */

import { checkArgument, checkOptions, type OptionRules } from '../../application/arguments.ts';
import { fenced } from '../../application/fenced.ts';
import { combineMethods } from '../../application/observers.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { authenticate, checkHead, requireWriteAccess } from './authentication.ts';
import { type ReadBytes, readJson, requireJson } from './body.ts';
import type { Stage } from './context.ts';
import { cors } from './cors.ts';
import { deprecation } from './deprecation.ts';
import { pathPrefixOf } from './docs/openapi.ts';
import { errorByStatus } from './errors.ts';
import { observe } from './observe.ts';
import { METHODS, type Operation } from './operations.ts';
import { HTTP_OPTIONS, HTTP_STORE, type HttpOptions, type HttpStore } from './options.ts';
import { Load } from './overload.ts';
import { petHandlers } from './pets.ts';
import { limitRate } from './rate-limit.ts';
import { refuseUnrouted, routes } from './routes.ts';

export interface Api {
  /** Outermost first. */
  readonly stages: readonly Stage[];
  readonly load: Load;
  readonly observer: RequestObserver;
}

/** The runtime reads the bodies, and a server has more options. */
export function createApi(
  store: HttpStore,
  options: HttpOptions,
  readBytes: ReadBytes,
  rules: OptionRules<HttpOptions> = HTTP_OPTIONS,
): Api {
  checkArgument('store', store, HTTP_STORE);
  checkOptions(options, rules);
  const { apiKeys, corsOrigins = [], metrics, middleware, observers = [], publicUrl, rateLimit } = options;
  const prefix = pathPrefixOf(publicUrl);
  const observer = combineMethods(observers, ['onRequest', 'onError']);
  const load = new Load();
  const verifier = apiKeys ?? { verify: store.verifyApiKey.bind(store) };
  // A verifier whose method fails, or does not return a boolean, says that any text may be a secret.
  const isPartOfKey = (text: string): boolean =>
    apiKeys?.hasPartOfKey !== undefined && fenced(() => apiKeys.hasPartOfKey?.(text)) !== false;
  const handlers = petHandlers(store, prefix);
  const stagesOf = ({ id, method }: Operation): readonly Stage[] => [
    ...(METHODS[method].isRead ? [] : [requireWriteAccess]), // 403: the key is read-only
    ...(METHODS[method].hasBody ? [requireJson, readJson(readBytes)] : []), // 415; 400, 413
    handlers[id],
  ];

  const stages: readonly Stage[] = [
    observe(observer, isPartOfKey), // request id, the Error body, what observers are told
    deprecation(prefix), // the fields of the deprecated operation, also on its errors
    ...(corsOrigins.length > 0 ? [cors(corsOrigins)] : []), // before errors can happen, so that a browser can read them
    load.guard, // 503
    ...(middleware?.beforeKey ?? []).map(guest), // yours
    authenticate(verifier, metrics !== undefined), // 401, before anything else is said about a path under /v1
    ...(rateLimit ? [limitRate(rateLimit, load)] : []), // 429
    checkHead, // 400: what HTTP forbids
    ...(middleware?.afterKey ?? []).map(guest), // yours
    routes(stagesOf, store, load, options),
    refuseUnrouted, // OPTIONS, 405, 404
  ];
  return { stages, load, observer };
}

/** The errors of a middleware of a user get a response by their `status`, as in Koa, and those of the API stay as they are. */
function guest(middleware: Stage): Stage {
  return async (ctx, next) => {
    let ofApi: unknown;
    const callApi = () =>
      next().catch((error: unknown) => {
        ofApi = error;
        throw error;
      });
    try {
      await middleware(ctx, callApi);
    } catch (error) {
      throw error === ofApi ? error : errorByStatus(error);
    }
  };
}
