import { checkArgument, checkOptions, type OptionRules } from '../../../application/arguments.ts';
import { fenced } from '../../../application/fenced.ts';
import { combineMethods } from '../../../application/observers.ts';
import { authenticate, requireWriteAccess } from './authentication.ts';
import { checkHead } from './check-head.ts';
import { METRICS_PATH, type Stage } from './context.ts';
import { cors } from './cors.ts';
import { deprecation } from './deprecation.ts';
import { type ReadBytes, readJson } from './json-body.ts';
import { Load, limitRate } from './load.ts';
import { observe, type RequestObserver, type RequestSettings } from './observe.ts';
import { HTTP_OPTIONS, HTTP_STORE, type HttpOptions, type HttpStore, type KeyVerifier } from './options.ts';
import { petRoutes } from './pets.ts';
import { pathPrefixOf } from './public-url.ts';
import { type CreateRouter, endpointsOf, refuseUnrouted } from './routes.ts';
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
  readonly observer: RequestObserver;
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
  const observer = combineMethods(observers, ['onRequest', 'onError']);
  const settings: RequestSettings = {
    proxies: options.trustedProxies,
    needsAddress: observers.some((each) => each.onRequest !== undefined && !each.ignoresClient),
    isSecret: (text) => isPartOfKey(apiKeys, text),
  };
  const load = new Load(thread?.count);
  const metricsPath = metrics && METRICS_PATH;
  const verifier = apiKeys ?? { verify: (key) => store.verifyApiKey(key) };
  const beforeCreate: readonly Stage[] = [
    requireWriteAccess, // 403: the key is read-only
    readJson(readBytes, newPetMembers, thread?.count), // 400, 408, 413, 415: the body
    load.countCreate, // 503: too many creates are in progress
  ];
  const pets = petRoutes(store, prefix, beforeCreate);
  const endpoints = endpointsOf(pets, store, load, options, prefix);

  const stages: readonly Stage[] = [
    observe(observer, settings), // request id, path, the fields of every response; tells the observers about each
    deprecation(prefix), // the fields of the deprecated operation, also on its errors
    sendErrors(observer), // whatever is thrown becomes the Error body
    cors(corsOrigins, load.takeTurnOfAccepted), // fields first, so that a browser can read errors too; responds to preflight requests
    load.takeTurn, // waits while the server is busy
    ...(middleware?.beforeKey ?? []).map(guest), // yours
    authenticate(verifier, metricsPath), // 401, before anything else is said about a path under /v1
    load.limitLoad(metricsPath), // 503: the server stops, is too busy, or has too many creates in progress
    limitRate(rateLimit, metricsPath, load.refused, thread), // 429
    checkHead, // what HTTP forbids
    ...(middleware?.afterKey ?? []).map(guest), // yours
    createRouter(endpoints), // the handlers; beforeCreate stands in front of that of creates
    refuseUnrouted, // what the router knows of a path's methods: OPTIONS, 405, 404
  ];
  return { stages, load, observer, settings };
}

/** A verifier whose method fails, or does not return a boolean, says that any text may be a secret. */
function isPartOfKey(verifier: KeyVerifier | undefined, text: string): boolean {
  return verifier?.hasPartOfKey !== undefined && fenced(() => verifier.hasPartOfKey?.(text)) !== false;
}
