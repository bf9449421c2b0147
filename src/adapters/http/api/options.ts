import type { AnimalStore } from '../../../application/animal-store.ts';
import {
  arrayOf,
  checkArgument,
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
import type { RequestObserver } from './observe.ts';
import { RATE_LIMIT_RULE, type RateLimit, type ServerThread } from './shared-limits.ts';
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
  /** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count, as a `BlockList` of `node:net`. Default: none. */
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
  rateLimit: RATE_LIMIT_RULE,
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

/** What an HTTP server counts. */
export interface ServerStatistics {
  /** The number of open connections; `NaN` if the runtime does not tell it. */
  readonly connections: number;
  readonly requestsInFlight: number;
  /** The number of refused requests, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** An HTTP server that does not listen until `listen` is called. */
export interface HttpServer {
  /** Starts to listen. Resolves with the URL, such as `http://127.0.0.1:3000`. The port 0 selects a free port. */
  listen(port: number, host: string): Promise<string>;
  /**
   * Stops accepting connections, and completes the requests in flight. For one second, the next request of each open
   * connection is handled too, because a client does not learn of the stop before the next response. Connections that
   * are still open after `timeout` milliseconds are closed. Resolves when all connections are closed.
   */
  stop(timeout: number): Promise<void>;
  readonly isStopping: boolean;
  /** Returns what the server counts, for monitoring. */
  statistics(): ServerStatistics;
}

/** The limits of a server: for the number of connections, and for slow clients. */
export interface ServerLimits {
  /** The maximum number of open connections. Further ones are closed immediately. By default there is no limit. */
  readonly maxConnections?: number | undefined;
  /** How long a client may take to send the head of a request, in milliseconds. Default: 10,000. */
  readonly headersTimeout?: number | undefined;
  /** How long a client may take to send a whole request, in milliseconds. Default: 30,000. */
  readonly requestTimeout?: number | undefined;
  /** How long a client may read nothing of a response before it is disconnected, in milliseconds. Default: 120,000. */
  readonly readingTimeout?: number | undefined;
}

/** The options of a server. */
export interface HttpServerOptions extends HttpOptions, ServerLimits {}

const LONGEST_TIMEOUT = 2 ** 31 - 1;

export const SERVER_TIMEOUT: Rule = {
  expected: `whole milliseconds from 0 to ${LONGEST_TIMEOUT}`,
  accepts: (value) => isIntegerWithin(value, LONGEST_TIMEOUT),
};

export const PORT_RULE: Rule = {
  expected: 'an integer from 0 to 65535',
  accepts: (value) => isIntegerWithin(value, 65_535),
};

export const HOST_RULE: Rule = {
  expected: 'a string that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '',
};

export const SERVER_OPTIONS: OptionRules<HttpServerOptions> = {
  ...HTTP_OPTIONS,
  maxConnections: {
    expected: 'an integer of 0 or more, or Infinity',
    accepts: (value) => value === Infinity || isIntegerWithin(value, Infinity),
  },
  headersTimeout: SERVER_TIMEOUT,
  requestTimeout: SERVER_TIMEOUT,
  readingTimeout: SERVER_TIMEOUT,
};

/** Returns the limits with their defaults. Node.js does not support every combination of timeouts. */
export function limitsOf(limits: ServerLimits): { readonly [Name in keyof ServerLimits]-?: number } {
  const {
    maxConnections = Infinity,
    headersTimeout = 10_000,
    requestTimeout = 30_000,
    readingTimeout = 120_000,
  } = limits;
  checkArgument('requestTimeout', requestTimeout, {
    expected: `0, or headersTimeout (${headersTimeout}) or more`,
    accepts: () => requestTimeout === 0 || requestTimeout >= headersTimeout,
  });
  return { maxConnections, headersTimeout, requestTimeout, readingTimeout };
}

function isIntegerWithin(value: unknown, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}
