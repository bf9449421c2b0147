/** Logs requests, errors and changes of the state of the storage. */

import type { Observer } from '../../application/ports/observer.ts';
import { configuredKeyMask } from './configured-keys.ts';
import { errorKind } from './error-fields.ts';
import type { Logger } from './log.ts';
import { Throttle } from './throttle.ts';

/** The maximum number of cached child loggers, one for each combination of method, route, status and API key. */
const KINDS_LIMIT = 1000;

/**
 * The maximum number of anonymous failures that are logged in one second. An anonymous failure is a request without a
 * valid API key whose response has status 4xx.
 */
const ANONYMOUS_FAILURES_LIMIT = 100;

/** The maximum number of kinds of errors that are counted separately in one second. */
const ERROR_KINDS_LIMIT = 50;

/** A good request that takes longer is always logged, in milliseconds. */
const SLOW = 1000;

/** The options of the log. */
interface LogOptions {
  /** The keys of the configuration, which no line may contain. */
  readonly apiKeys?: readonly string[];
  /** Of how many good requests one is logged. Failed and slow requests are always logged. Default: 1. */
  readonly sample?: number;
  /**
   * Whether the lines of requests and errors contain the `traceparent` of the request. It is redundant when the lines
   * contain the ids of the trace. Default: true.
   */
  readonly hasTraceparent?: boolean;
}

/**
 * Returns an observer that writes to the log. If the log level excludes the lines for requests, the observer has no
 * method `onRequest`.
 */
export function logObserver(
  log: Logger,
  { apiKeys = [], sample = 1, hasTraceparent = true }: LogOptions = {},
): Observer {
  const mask = configuredKeyMask(apiKeys);
  const shownTraceparent = (value: string | undefined) => (hasTraceparent && value ? mask(value) : undefined);
  return {
    ...(log.isLevelEnabled('info') && { onRequest: requestLog(log, mask, sample, shownTraceparent) }),
    onError: errorLog(log, mask, shownTraceparent),
    onStorageState: storageLog(log),
    onWarning: (message) => log.warn(message),
  };
}

/**
 * Logs one line per request. Requests with the same method, route, status and API key share a child logger, because a
 * child logger serializes these fields only once. Failures of requests without a valid API key are throttled, because
 * anybody can cause them.
 */
function requestLog(
  log: Logger,
  mask: (text: string) => string,
  sample: number,
  shownTraceparent: (value: string | undefined) => string | undefined,
): NonNullable<Observer['onRequest']> {
  let good = 0;
  const kinds = new Map<string, Logger>();
  const anonymousFailures = new Throttle({
    limit: ANONYMOUS_FAILURES_LIMIT,
    kinds: 1,
    onSuppressed: (suppressed) =>
      log.warn({ suppressed }, 'failed requests without a key holder were not logged'),
  });
  return ({ method, route, path, status, keyId, address, ms, requestId, aborted, traceparent }) => {
    if (keyId === undefined && status >= 400 && status < 500 && !anonymousFailures.passes('all')) return;
    if (status < 400 && ms < SLOW && !aborted && good++ % sample !== 0) return;
    const kind = `${method} ${route} ${status} ${keyId}`;
    let kindLog = kinds.get(kind);
    if (kindLog === undefined) {
      if (kinds.size >= KINDS_LIMIT) kinds.clear();
      kindLog = log.child({ method, route, status, keyId });
      kinds.set(kind, kindLog);
    }
    // A member of the line costs time, even when it is undefined. Few requests have one of these three.
    const fields = { address, ms, requestId: mask(requestId) };
    const shown = shownTraceparent(traceparent);
    kindLog.info(
      path === undefined && !aborted && shown === undefined
        ? fields
        : { path: path && mask(path), ...fields, aborted, traceparent: shown },
      'request',
    );
  };
}

/**
 * Logs each kind of error at most once per second. A fault such as a full disk often makes all requests fail with the
 * same kind of error.
 */
function errorLog(
  log: Logger,
  mask: (text: string) => string,
  shownTraceparent: (value: string | undefined) => string | undefined,
): NonNullable<Observer['onError']> {
  const errors = new Throttle({
    limit: 1,
    kinds: ERROR_KINDS_LIMIT,
    onSuppressed: (suppressed, kind) =>
      log.error({ kind, suppressed }, 'more requests failed in the same way'),
  });
  return (err, requestId, address, traceparent) => {
    if (!errors.passes(errorKind(err))) return;
    const shown = shownTraceparent(traceparent);
    log.error(
      { err, requestId: requestId && mask(requestId), address, traceparent: shown },
      'request failed',
    );
  };
}

/** Logs when the storage becomes unavailable, when the reason changes, and when the storage is available again. */
function storageLog(log: Logger): NonNullable<Observer['onStorageState']> {
  return (fault) => {
    if (fault === undefined) log.info('the storage is available again');
    else {
      const { reason, message, cause } = fault;
      log.error({ reason, detail: String(cause) }, `the storage is unavailable: ${message}`);
    }
  };
}
