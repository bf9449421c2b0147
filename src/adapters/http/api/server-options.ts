import { checkArgument, type OptionRules, type Rule } from '../../../application/arguments.ts';
import { HTTP_OPTIONS, type HttpOptions } from './options.ts';

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

export const TIMEOUT: Rule = {
  expected: `whole milliseconds from 0 to ${LONGEST_TIMEOUT}`,
  accepts: (value) => isIntegerWithin(value, LONGEST_TIMEOUT),
};

export const PORT: Rule = {
  expected: 'an integer from 0 to 65535',
  accepts: (value) => isIntegerWithin(value, 65_535),
};

export const HOST: Rule = {
  expected: 'a string that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '',
};

export const SERVER_OPTIONS: OptionRules<HttpServerOptions> = {
  ...HTTP_OPTIONS,
  maxConnections: {
    expected: 'an integer of 0 or more, or Infinity',
    accepts: (value) => value === Infinity || isIntegerWithin(value, Infinity),
  },
  headersTimeout: TIMEOUT,
  requestTimeout: TIMEOUT,
  readingTimeout: TIMEOUT,
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
