import { fenced } from './fenced.ts';
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
