/**
 * Logs requests, errors and the state of the storage. Limits the number of lines per second about events that anybody can cause.
 */

import type { Logger } from 'pino';
import type { Observer } from '../../application/ports/observer.ts';
import type { RequestObserver, RequestOutcome } from '../../application/ports/request-observer.ts';
import { errorKind } from './error-fields.ts';

/** The maximum number of requests without a valid API key that are logged in one second. */
const ANONYMOUS_LIMIT = 100;

export function logObserver(log: Logger): Observer & RequestObserver {
  const passesAnonymous = throttle(ANONYMOUS_LIMIT, (counted) =>
    log.warn(counted, 'requests without a key holder were not logged'),
  );
  // A fault such as a full disk makes all requests fail in the same way, so one line per second is enough.
  const passesError = throttle(1, (counted) => log.error(counted, 'more requests failed in the same way'));
  return {
    ...(log.isLevelEnabled('info') && {
      onRequest({ keyName: _, ...request }: RequestOutcome): void {
        const { route, status, keyId } = request;
        if (status < 400 && (route === '/livez' || route === '/readyz')) log.debug(request, 'request');
        else if (keyId !== undefined || passesAnonymous()) log.info(request, 'request');
      },
    }),
    onError(err, requestId, address, traceparent) {
      if (passesError(errorKind(err))) log.error({ err, requestId, address, traceparent }, 'request failed');
    },
    onStorageState(fault) {
      if (fault === undefined) return log.info('the storage is available again');
      const { reason, message, cause } = fault;
      log.error({ reason, detail: cause && String(cause) }, `the storage is unavailable: ${message}`);
    },
    onWarning: (message) => log.warn(message),
    onFailure: (work, err) => log.error({ err }, `${work} failed`),
  };
}

/** The reports that are still to be made, one for each throttle that has counted events in the current second. */
const reports = new Set<() => void>();

/** Reports what was suppressed until now. Must be called before the process exits. */
export function reportSuppressed(): void {
  for (const report of reports) report();
}

/** Lets `limit` events of each kind pass in one second, and then reports how many were suppressed. */
function throttle(
  limit: number,
  onSuppressed: (counted: { kind: string | undefined; suppressed: number }) => void,
): (kind?: string) => boolean {
  const counts = new Map<string | undefined, number>();
  const report = (): void => {
    reports.delete(report);
    for (const [kind, count] of counts) if (count > limit) onSuppressed({ kind, suppressed: count - limit });
    counts.clear();
  };
  return (kind) => {
    if (counts.size === 0) {
      reports.add(report);
      setTimeout(report, 1000).unref();
    }
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= limit;
  };
}
