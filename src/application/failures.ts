/** Calls code of the host that may fail, and reports failed work for which no caller waits. */

import type { FailureObserver } from './ports/observer.ts';

/** In milliseconds. */
const INTERVAL = 60_000;

/** Reports that work has failed for which no caller waits. */
export type ReportFailure = (work: string, error: unknown) => void;

/** Each kind of work is reported at most once a minute, to the observers that listen, or else on the console. */
export function failureReporter(observers: readonly FailureObserver[]): ReportFailure {
  const listeners = observers.filter(({ onFailure }) => onFailure !== undefined);
  const reportedAt = new Map<string, number>();
  return (work, error) => {
    const now = performance.now();
    if (now - (reportedAt.get(work) ?? -Infinity) < INTERVAL) return;
    reportedAt.set(work, now);
    if (listeners.length === 0) console.error(`animal-store: ${work} failed:`, error);
    for (const listener of listeners) fenced(() => listener.onFailure?.(work, error));
  };
}

/**
 * Calls code of the host, such as an observer, which must not make a request or a write fail, or end the program: its
 * exception and its rejected promise go to `onFailure` only. Returns its result, or `undefined` after an exception.
 */
export function fenced(call: () => unknown, onFailure: (error: unknown) => void = () => {}): unknown {
  try {
    const result = call();
    if (typeof result === 'object') Promise.resolve(result).catch(onFailure);
    return result;
  } catch (error) {
    onFailure(error);
    return undefined;
  }
}
