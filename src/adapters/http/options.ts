/** The options of the API and of its server, with the rules that check them. */

import type { RouterMiddleware } from '@koa/router';
import type { AnimalStore } from '../../application/animal-store.ts';
import {
  arrayOf,
  FUNCTION,
  type OptionRules,
  objectOf,
  objectWith,
  optionsOf,
  type Rule,
  STRING,
} from '../../application/arguments.ts';
import { OBSERVER } from '../../application/observers.ts';
import type { ApiKeyVerifier } from '../../application/ports/api-key-verifier.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { isOrigin } from './cors.ts';
import { LIFECYCLE_RULES, type LifecycleOptions } from './lifecycle.ts';
import type { RateLimit } from './rate-limit.ts';
import type { ApiState } from './state.ts';

const STORE_METHODS = ['listPage', 'createPetOnce', 'getPet', 'verifyApiKey', 'check'] as const;
const CHANGE_METHODS = ['changePetOnce', 'removePetOnce', 'listStates'] as const;

/** The members of an {@link AnimalStore} that the API uses. */
export type HttpStore = Pick<AnimalStore, (typeof STORE_METHODS)[number]> &
  Partial<Pick<AnimalStore, (typeof CHANGE_METHODS)[number] | 'canChangePets' | 'hasApiKeys'>>;

/** Verifies the API keys of requests. */
export interface KeyVerifier extends ApiKeyVerifier {
  /**
   * Whether a text contains a secret part of a key. The server neither logs nor returns such a text. A verifier needs this function
   * if its keys can have another format than those of the store.
   */
  hasPartOfKey?(text: string): boolean;
}

/** Metrics in a text format, for a monitoring system such as Prometheus. */
export interface MetricsText {
  readonly contentType: string;
  /** Resolves with the current values. */
  text(): Promise<string>;
}

/** A Koa middleware of a user. */
export type UserMiddleware = RouterMiddleware<ApiState>;

/** The places in the API's list of middleware where a user can add more. */
export interface UserMiddlewares {
  /** Runs after the limit of requests in flight was applied, before the API key is checked. */
  readonly beforeKey?: readonly UserMiddleware[] | undefined;
  /**
   * Runs after the API key was checked and the limits were applied. `ctx.state.animalStore.holder` is the key holder, or
   * `undefined` on a path that needs no key.
   */
  readonly afterKey?: readonly UserMiddleware[] | undefined;
}

/** The options of the HTTP API. */
export interface HttpOptions extends LifecycleOptions {
  /** Verifies the API keys of requests. By default, the store verifies them. Every request under `/v1` needs a key. */
  readonly apiKeys?: KeyVerifier | undefined;
  /**
   * The base URL that clients use, when a proxy hides the server. The proxy must remove the path of this URL from requests. Links
   * in responses start with this path. By default, the URL in the OpenAPI document is relative.
   */
  readonly publicUrl?: string | undefined;
  /** The origins whose scripts may call the API in a browser, such as `https://example.org`. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** The number of proxies in front of the server. Their `X-Forwarded-For` and `X-Forwarded-Proto` are used. Default: 0. */
  readonly trustedProxies?: number | undefined;
  /** The rate limit of each API key. A key and the key that replaces it share a limit. By default there is no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** The metrics of the server. The path `/metrics` needs an API key. By default, there is no such path. */
  readonly metrics?: MetricsText | undefined;
  /**
   * Notified of every response, and of every error that causes a status of 500 or above. Without `onError`, an error that causes
   * status 500 goes to the `error` event of the Koa app or, without a listener, to `console.error`.
   */
  readonly observers?: readonly RequestObserver[] | undefined;
  /** Your own Koa middleware, at two places in the API's list of middleware. Its errors get a response with the Error body. */
  readonly middleware?: UserMiddlewares | undefined;
}

/** The numbers of open connections, of requests in flight, and of refusals by reason. */
export interface ServerStatistics {
  readonly connections: number;
  readonly requestsInFlight: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** An HTTP server that does not listen until `listen` is called. */
export interface HttpServer {
  /** Listens, and resolves with the URL, such as `http://127.0.0.1:3000`. The port 0 selects a free port. Rejects after `stop`. */
  listen(port: number, host: string): Promise<string>;
  /**
   * Stops accepting connections, and completes the requests in flight and those that arrive on open connections. Closes idle
   * connections after one second, and all others after `timeout` milliseconds. Resolves when no connection is open.
   */
  stop(timeout: number): Promise<void>;
  readonly isStopping: boolean;
  /** Returns the numbers of connections and requests, for monitoring. */
  statistics(): ServerStatistics;
}

/** The options of a server. Times are in milliseconds. */
export interface HttpServerOptions extends HttpOptions {
  /** The maximum number of open connections. Further ones are closed immediately. By default there is no limit. */
  readonly maxConnections?: number | undefined;
  /** The time limit for the head of a request, at most `requestTimeout`. Default: 10,000, or `requestTimeout` if shorter. */
  readonly headersTimeout?: number | undefined;
  /** How long a client may take to send a whole request. Default: 30,000, or `headersTimeout` if longer. */
  readonly requestTimeout?: number | undefined;
}

/** Whether a text is a valid public URL. The OpenAPI document shows it, so it must not contain a password. */
export function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  const others = url && `${url.username}${url.password}${url.search}${url.hash}`;
  return others === '' && /^https?:$/.test(url?.protocol ?? '');
}

const INTEGER: Rule = {
  expected: 'an integer of 0 or more',
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
const FUNCTIONS: Rule = arrayOf('an array of functions', FUNCTION);
const METRICS: Rule = {
  expected: 'an object with the method text and the string contentType',
  accepts: (value) => objectWith('text').accepts(value) && STRING.accepts((value as MetricsText).contentType),
};

export const HTTP_STORE: Rule = objectWith(...STORE_METHODS);
export const CHANGING_STORE: Rule = objectWith(...STORE_METHODS, ...CHANGE_METHODS);

export const HTTP_OPTIONS: OptionRules<HttpOptions> = {
  apiKeys: objectOf<KeyVerifier>(objectWith('verify'), { verify: FUNCTION, hasPartOfKey: FUNCTION }),
  publicUrl: {
    expected: 'an http or https URL without user name, password, query and fragment',
    accepts: (value) => typeof value === 'string' && isPublicUrl(value),
  },
  corsOrigins: arrayOf('an array of origins', {
    expected: 'an origin such as https://example.org, without wildcards',
    accepts: isOrigin,
  }),
  trustedProxies: INTEGER,
  ...LIFECYCLE_RULES,
  rateLimit: optionsOf<RateLimit>(
    {
      requests: {
        expected: 'a finite number of 1 or more',
        accepts: (n) => Number(n) >= 1 && n !== Infinity,
      },
      seconds: { expected: 'a finite number above 0', accepts: (n) => Number(n) > 0 && n !== Infinity },
    },
    {
      expected: 'an object with the numbers requests and seconds',
      accepts: (value) =>
        typeof (value as RateLimit).requests === 'number' && typeof (value as RateLimit).seconds === 'number',
    },
  ),
  metrics: objectOf<MetricsText>(METRICS, { contentType: STRING, text: FUNCTION }),
  observers: arrayOf('an array of objects', OBSERVER),
  middleware: optionsOf<UserMiddlewares>({ beforeKey: FUNCTIONS, afterKey: FUNCTIONS }),
};

export const SERVER_OPTIONS: OptionRules<HttpServerOptions> = {
  ...HTTP_OPTIONS,
  maxConnections: INTEGER,
  headersTimeout: INTEGER,
  requestTimeout: INTEGER,
};
