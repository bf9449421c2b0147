/** The API: a list of Koa middleware. */

import { checkArgument, checkOptions, type OptionRules } from '../../application/arguments.ts';
import { fenced } from '../../application/fenced.ts';
import { combineMethods } from '../../application/observers.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { authenticate, requireWriteAccess } from './authentication.ts';
import { type ReadBytes, readJson, requireJson } from './body.ts';
import { checkHead } from './check-head.ts';
import type { Stage } from './context.ts';
import { cors } from './cors.ts';
import { deprecation } from './deprecation.ts';
import { pathPrefixOf } from './docs/openapi.ts';
import { errorByStatus } from './errors.ts';
import { observe } from './observe.ts';
import { METHODS, type Operation } from './operations.ts';
import {
  HTTP_OPTIONS,
  HTTP_STORE,
  type HttpOptions,
  type HttpStore,
  type KeyVerifier,
  type UserMiddleware,
} from './options.ts';
import { Load } from './overload.ts';
import { petHandlers } from './pets.ts';
import { limitRate } from './rate-limit.ts';
import { otherRoutes, refuseUnrouted, routes } from './routes.ts';
import { newPetMembers } from './schemas.ts';

export interface Api {
  /** Outermost first. */
  readonly stages: readonly Stage[];
  readonly load: Load;
  readonly observer: RequestObserver;
}

/**
 * @param readBytes reads the bodies of the runtime
 * @param rules of the options, of which a server has more
 */
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
  const verifier = apiKeys ?? { verify: (key) => store.verifyApiKey(key) };
  const handlers = petHandlers(store, prefix);
  const write = [requireWriteAccess]; // 403: the key is read-only
  const body = [
    requireJson, // 415
    readJson(readBytes, newPetMembers), // 400, 413
  ];
  const stagesOf = ({ id, method }: Operation): readonly Stage[] => {
    const { isRead, hasBody } = METHODS[method];
    return [...(isRead ? [] : write), ...(hasBody ? body : []), handlers[id]];
  };

  const stages: readonly Stage[] = [
    observe(observer, (text) => isPartOfKey(apiKeys, text)), // request id, the Error body, what observers are told
    deprecation(prefix), // the fields of the deprecated operation, also on its errors
    ...(corsOrigins.length > 0 ? [cors(corsOrigins)] : []), // before errors can happen, so that a browser can read them
    load.guard, // 503
    ...(middleware?.beforeKey ?? []).map(guest), // yours
    authenticate(verifier, metrics !== undefined), // 401, before anything else is said about a path under /v1
    ...(rateLimit ? [limitRate(rateLimit, load.refused)] : []), // 429
    checkHead, // 400: what HTTP forbids
    ...(middleware?.afterKey ?? []).map(guest), // yours
    routes(stagesOf, otherRoutes(store, load, options, prefix)),
    refuseUnrouted, // OPTIONS, 405, 404
  ];
  return { stages, load, observer };
}

/** A verifier whose method fails, or does not return a boolean, says that any text may be a secret. */
function isPartOfKey(verifier: KeyVerifier | undefined, text: string): boolean {
  return verifier?.hasPartOfKey !== undefined && fenced(() => verifier.hasPartOfKey?.(text)) !== false;
}

/** The errors of a middleware of a user get a response by their `status`, as in Koa, and those of the API stay as they are. */
function guest(middleware: UserMiddleware): Stage {
  return async (ctx, next) => {
    let ofApi: unknown;
    const rethrow = (error: unknown) => {
      ofApi = error;
      throw error;
    };
    try {
      await middleware(ctx, () => next().catch(rethrow));
    } catch (error) {
      throw error === ofApi ? error : errorByStatus(error);
    }
  };
}
