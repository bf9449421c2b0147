import type { AnimalStore } from '../../../application/animal-store.ts';
import {
  arrayOf,
  FUNCTION,
  INTERNAL,
  OBJECT,
  type OptionRules,
  objectWith,
  type Rule,
  STRING,
} from '../../../application/arguments.ts';
import type { ApiKeyVerifier } from '../../../application/ports/api-key-verifier.ts';
import type { TrustedProxies } from './client-address.ts';
import { isOrigin } from './cors.ts';
import { RATE_LIMIT, type RateLimit } from './rate-limiter.ts';
import type { RequestObserver } from './request-observer.ts';
import type { ServerThread } from './shared-limits.ts';
import type { UserMiddlewares } from './user-middleware.ts';

/** The methods of an {@link AnimalStore} that the API calls. */
export type HttpStore = Pick<
  AnimalStore,
  'createPet' | 'createPetOnce' | 'listPage' | 'getPet' | 'verifyApiKey' | 'check'
>;

export const HTTP_STORE: Rule = objectWith(
  'createPet',
  'createPetOnce',
  'listPage',
  'getPet',
  'verifyApiKey',
  'check',
);

/** Verifies the API keys of requests. */
export interface KeyVerifier extends ApiKeyVerifier {
  /**
   * Whether a text contains a secret part of a key. The server then neither logs nor returns the request id or the
   * `traceparent` of a client. Only a verifier whose keys may contain 16 hexadecimal digits in a row needs this method.
   */
  hasPartOfKey?(text: string): boolean;
}

/** Metrics in a text format, for a monitoring system such as Prometheus. */
export interface MetricsText {
  readonly contentType: string;
  /** Resolves with the present values. */
  text(): Promise<string>;
}

/** The options of the HTTP API. */
export interface HttpOptions {
  /** Verifies the API keys of requests. By default, the store verifies them. Every request under `/v1` needs a key. */
  readonly apiKeys?: KeyVerifier | undefined;
  /**
   * The base URL that clients use, when a proxy hides the server. A proxy must remove the path of the URL from requests;
   * links in responses start with it: `/shop/v1/pets` for `https://example.org/shop`. By default links start with `/v1`,
   * and the URL in the OpenAPI document is derived from the `Host` of each request.
   */
  readonly publicUrl?: string | undefined;
  /** The origins whose scripts may call the API in a browser, such as `https://example.org`. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /**
   * The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count, as a `BlockList` of `node:net`, which must not
   * change afterwards. Default: none.
   */
  readonly trustedProxies?: TrustedProxies | undefined;
  /** The rate limit of each API key. Keys that replace each other share a limit. By default there is no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** The metrics of the server. By default, the path `/metrics` does not exist. Requests for it need an API key. */
  readonly metrics?: MetricsText | undefined;
  /** Notified of every response, and of every error that causes a status of 500 or above. */
  readonly observers?: readonly RequestObserver[] | undefined;
  /** Your own Koa middleware, at two places in the list of the API. Errors that it throws get the Error body. */
  readonly middleware?: UserMiddlewares | undefined;
  /** @internal Set if several threads of the process have a server on the same port. */
  readonly thread?: ServerThread | undefined;
}

const ORIGIN: Rule = { expected: 'an origin', accepts: isOrigin };

export const HTTP_OPTIONS: OptionRules<HttpOptions> = {
  apiKeys: objectWith('verify'),
  publicUrl: STRING,
  corsOrigins: arrayOf('an array of origins such as https://example.org, without wildcards', ORIGIN),
  trustedProxies: objectWith('check'),
  rateLimit: RATE_LIMIT,
  metrics: objectWith('text'),
  observers: arrayOf('an array of objects', OBJECT),
  middleware: {
    expected: 'an object with arrays of functions, beforeKey and afterKey',
    accepts: (value) => OBJECT.accepts(value) && Object.entries(value as object).every(isPlace),
  },
  thread: INTERNAL,
};

const FUNCTIONS = arrayOf('an array of functions', FUNCTION);

function isPlace([name, value]: [string, unknown]): boolean {
  return (name === 'beforeKey' || name === 'afterKey') && (value === undefined || FUNCTIONS.accepts(value));
}
