/** What the log tells about requests. */

import type { OnAnswer, OnError } from '../adapters/http/answer.ts';
import type { Logger } from '../adapters/log/log.ts';

export { createLog, type Logger } from '../adapters/log/log.ts';

/** How many kinds of request are cached. */
const CACHED_KINDS = 1000;

/**
 * One line per request. Left out where it would not be written, so that nothing is made for it. What requests of a kind
 * have in common is serialized once, in a child logger of theirs.
 */
export function requestLog(log: Logger): OnAnswer | undefined {
  if (!log.isLevelEnabled('info')) return undefined;
  const kinds = new Map<string, Logger>();
  return ({ method, route, status, keyId, ms, requestId, aborted }) => {
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

export function errorLog(log: Logger): OnError {
  return (err, requestId) => log.error({ err, requestId }, 'request failed');
}
