/** What the log tells about requests. */

import type { OnAnswer, OnError } from '../adapters/http/answer.ts';
import { errorKind } from '../adapters/log/error-fields.ts';
import type { Logger } from '../adapters/log/log.ts';
import { Throttle } from '../adapters/log/throttle.ts';
import type { StorageFault } from '../application/storage-fault.ts';

export { createLog, type Logger } from '../adapters/log/log.ts';

/** How many kinds of request are cached. */
const CACHED_KINDS = 1000;

/** How many failed requests without a key holder are logged in a second. */
const ANONYMOUS_FAILURES_LIMIT = 100;

/** How many kinds of errors are told apart in a second. */
const ERROR_KINDS = 50;

/**
 * One line per request. Left out where it would not be written, so that nothing is made for it. What requests of a kind
 * have in common is serialized once, in a child logger of theirs. Failures that anybody can cause are throttled.
 */
export function requestLog(log: Logger): OnAnswer | undefined {
  if (!log.isLevelEnabled('info')) return undefined;
  const kinds = new Map<string, Logger>();
  const anonymousFailures = new Throttle({
    limit: ANONYMOUS_FAILURES_LIMIT,
    kinds: 1,
    onSuppressed: (suppressed) =>
      log.warn({ suppressed }, 'failed requests without a key holder were not logged'),
  });
  return ({ method, route, status, keyId, ms, requestId, aborted }) => {
    if (keyId === undefined && status >= 400 && status < 500 && !anonymousFailures.passes('all')) return;
    const kind = `${method} ${route} ${status} ${keyId}`;
    let kindLog = kinds.get(kind);
    if (kindLog === undefined) {
      if (kinds.size >= CACHED_KINDS) kinds.clear();
      kindLog = log.child({ method, route, status, keyId });
      kinds.set(kind, kindLog);
    }
    kindLog.info({ ms, requestId, aborted }, 'request');
  };
}

/** One line when the storage cannot serve any more, or for another reason, and one when it can again. */
export function storageLog(log: Logger): (fault: StorageFault | undefined) => void {
  return (fault) => {
    if (fault === undefined) log.info('the storage is available again');
    else {
      const { reason, message, cause } = fault;
      log.error({ reason, detail: String(cause) }, `the storage is unavailable: ${message}`);
    }
  };
}

/** One line per kind of error and second: an error that fails one request often fails all of them. */
export function errorLog(log: Logger): OnError {
  const errors = new Throttle({
    limit: 1,
    kinds: ERROR_KINDS,
    onSuppressed: (suppressed, kind) =>
      log.error({ kind, suppressed }, 'more requests failed in the same way'),
  });
  return (err, requestId) => {
    if (errors.passes(errorKind(err))) log.error({ err, requestId }, 'request failed');
  };
}
