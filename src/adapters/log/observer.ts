import type { Observer } from '../../application/ports/observer.ts';
import { errorKind } from './error-fields.ts';
import type { Logger } from './log.ts';
import { throttle } from './throttle.ts';

/** The maximum number of cached child loggers, one for each combination of method, route, status and API key. */
const KINDS_LIMIT = 1000;

/** The maximum number of requests without a valid API key that are logged in one second. */
const ANONYMOUS_LIMIT = 100;

/** A good request that takes longer is not sampled, in milliseconds. */
const SLOW = 1000;

/** The response to a request, as its line shows it. */
export interface LoggedRequest {
  readonly method: string;
  readonly route: string | undefined;
  readonly path: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly keyId: string | undefined;
  readonly keyName?: string | undefined;
  readonly address: string | undefined;
  readonly aborted: true | undefined;
  readonly traceparent: string | undefined;
}

export interface LogObserver extends Observer {
  onRequest?(request: LoggedRequest): void;
  onError(error: unknown, requestId: string, address?: string, traceparent?: string): void;
}

interface LogOptions {
  /** Of how many good requests one is logged. Failed and slow requests are not sampled. */
  readonly sample?: number;
  /** Whether the lines contain the `traceparent`, which is redundant when they contain the ids of the trace. */
  readonly hasTraceparent?: boolean;
  /** Whether the lines contain the name of the API key, for people. */
  readonly hasNames?: boolean;
  /** The number of threads that write to the log, which share its limits. */
  readonly threads?: number;
}

/** Returns an observer without `onRequest` if the log level excludes the lines for requests. */
export function logObserver(log: Logger, options: LogOptions = {}): LogObserver {
  return {
    ...(log.isLevelEnabled('info') && { onRequest: requestLog(log, options) }),
    onError: errorLog(log, options),
    onStorageState(fault) {
      if (fault === undefined) return log.info('the storage is available again');
      const { reason, message, cause } = fault;
      log.error({ reason, detail: String(cause) }, `the storage is unavailable: ${message}`);
    },
    onWarning: (message) => log.warn(message),
  };
}

/**
 * Logs one line per request. A child logger serializes the fields that requests of one kind share only once. Requests
 * without a valid API key are throttled, because anybody can send them.
 */
function requestLog(
  log: Logger,
  { sample = 1, hasTraceparent = true, hasNames = false, threads = 1 }: LogOptions,
): NonNullable<LogObserver['onRequest']> {
  let good = 0;
  const kinds = new Map<string, Logger>();
  const passes = throttle(Math.ceil(ANONYMOUS_LIMIT / threads), (suppressed) =>
    log.warn({ suppressed }, 'requests without a key holder were not logged'),
  );
  return ({ method, route, path, status, keyId, keyName, address, ms, requestId, aborted, traceparent }) => {
    if (status < 400 && ms < SLOW && !aborted && good++ % sample !== 0) return;
    if (keyId === undefined && !passes('all')) return;
    const kind = `${method} ${route} ${status} ${keyId}`;
    let kindLog = kinds.get(kind);
    if (kindLog === undefined) {
      if (kinds.size >= KINDS_LIMIT) kinds.clear();
      kindLog = log.child({ method, route, status, keyId, ...(hasNames && { keyName }) });
      kinds.set(kind, kindLog);
    }
    // A member of the line costs time, even when it is undefined. Few requests have one of these three.
    const fields = { address, ms, requestId };
    const shown = hasTraceparent ? traceparent : undefined;
    kindLog.info(
      path === undefined && !aborted && shown === undefined
        ? fields
        : { path, ...fields, aborted, traceparent: shown },
      'request',
    );
  };
}

/** Logs each kind of error once per second, because a fault such as a full disk makes all requests fail in the same way. */
function errorLog(log: Logger, { hasTraceparent = true }: LogOptions): LogObserver['onError'] {
  const passes = throttle(1, (suppressed, kind) =>
    log.error({ kind, suppressed }, 'more requests failed in the same way'),
  );
  return (err, requestId, address, traceparent) => {
    if (!passes(errorKind(err))) return;
    const shown = hasTraceparent ? traceparent : undefined;
    log.error({ err, requestId, address, traceparent: shown }, 'request failed');
  };
}
