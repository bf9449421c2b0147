import { checkArgument, checkOptions, type OptionRules } from '../../../application/arguments.ts';
import { fenced } from '../../../application/fenced.ts';
import { combineObservers } from '../../../application/observers.ts';
import type { ApiKeyVerifier } from '../../../application/ports/api-key-verifier.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import { authenticate } from './authentication.ts';
import { checkHead } from './check-head.ts';
import { cachedProxies } from './client-address.ts';
import type { Stage } from './context.ts';
import { cors } from './cors.ts';
import { deprecation } from './deprecation.ts';
import { type ReadBytes, readJson } from './json-body.ts';
import { Load } from './load.ts';
import { observe } from './observe.ts';
import { HTTP_OPTIONS, HTTP_STORE, type HttpOptions, type HttpStore } from './options.ts';
import { pathPrefixOf } from './public-url.ts';
import type { RequestSettings } from './request-state.ts';
import { type CreateRouter, endpointsOf, METRICS_PATH, refuseUnrouted } from './routes.ts';
import { newPetMembers } from './schemas.ts';
import { sendErrors } from './send-errors.ts';
import { guest } from './user-middleware.ts';

/** What the API needs of Koa, or of what stands in for it. */
export interface Carrier {
  readonly createRouter: CreateRouter;
  readonly readBytes: ReadBytes;
}

export interface Api {
  /** The whole API as a list of Koa middleware, outermost first. */
  readonly stages: readonly Stage[];
  readonly load: Load;
  readonly observer: Observer;
  readonly settings: RequestSettings;
}

/** @param rules the rules of the options, of which a server has more */
export function createApi(
  store: HttpStore,
  options: HttpOptions,
  { createRouter, readBytes }: Carrier,
  rules: OptionRules<HttpOptions> = HTTP_OPTIONS,
): Api {
  checkArgument('store', store, HTTP_STORE);
  checkOptions(options, rules);
  const { apiKeys, corsOrigins, metrics, middleware, observers = [], publicUrl, rateLimit, thread } = options;
  const prefix = pathPrefixOf(publicUrl);
  const observer = combineObservers(observers);
  const settings: RequestSettings = {
    proxies: cachedProxies(options.trustedProxies),
    needsAddress: observers.some((each) => each.onRequest !== undefined && !each.ignoresClient),
    isSecret: (text) => isPartOfKey(apiKeys, text),
  };
  const load = new Load(rateLimit, thread);
  const verifier = apiKeys ?? { verify: (key) => store.verifyApiKey(key) };
  const metricsPath = metrics && METRICS_PATH;
  const endpoints = endpointsOf(
    store,
    load,
    readJson(readBytes, newPetMembers, thread?.count),
    options,
    prefix,
  );

  const stages: readonly Stage[] = [
    observe(observer, settings), // request id, path, duration; tells the observers about every response
    deprecation(prefix), // the fields of the deprecated operation, also on its errors
    sendErrors(observer), // whatever is thrown becomes the Error body
    cors(corsOrigins), // fields first, so that a browser can read errors too; responds to preflight requests
    load.takeTurn, // waits while the server is busy
    ...(middleware?.beforeKey ?? []).map(guest),
    authenticate(verifier, metricsPath), // 401, before anything else is said about a path under /v1
    load.limitLoad(metricsPath), // refuses: stopping, busy, creates, rate
    checkHead(), // what HTTP forbids
    ...(middleware?.afterKey ?? []).map(guest),
    createRouter(endpoints), // the handlers
    refuseUnrouted, // what the router knows of a path's methods: OPTIONS, 405, 404
  ];
  return { stages, load, observer, settings };
}

/** A verifier whose method fails, or does not return a boolean, says that any text may be a secret. */
function isPartOfKey(verifier: ApiKeyVerifier | undefined, text: string): boolean {
  return verifier?.hasPartOfKey !== undefined && fenced(() => verifier.hasPartOfKey?.(text)) !== false;
}
