/** Calls observers, and reports failed work for which no caller waits. */

import { FUNCTION, OBJECT, objectOf, type Rule } from './arguments.ts';
import type { FailureObserver, Observer } from './ports/observer.ts';
import type { RequestObserver } from './ports/request-observer.ts';

/** One object can observe a server and its storage. */
export const OBSERVER: Rule = /* @__PURE__ */ objectOf<Observer & RequestObserver>(OBJECT, {
  onRequest: FUNCTION,
  onError: FUNCTION,
  onCommit: FUNCTION,
  onStorageState: FUNCTION,
  onWarning: FUNCTION,
  onFailure: FUNCTION,
});

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

/** Calls code of the host, such as an observer. Passes its exception or rejection to `onFailure` only. */
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

type Method = (...values: readonly unknown[]) => unknown;

export function combineObservers(observers: readonly Observer[]): Observer {
  return combineMethods(observers, ['onCommit', 'onStorageState', 'onWarning', 'onFailure']);
}

/** Combines observers into one, with each method that one of them has. Calls are {@link fenced}, and failures reported. */
export function combineMethods<T extends FailureObserver>(
  observers: readonly T[],
  names: readonly (keyof T)[],
): T {
  const report = failureReporter(observers);
  const combined: Partial<Record<keyof T, Method>> = {};
  for (const name of names) {
    const listeners = observers.filter((observer) => observer[name] !== undefined);
    if (listeners.length === 0) continue;
    const onFailure = (error: unknown): void => report(`the observer method ${String(name)}`, error);
    combined[name] = (...values) => {
      for (const listener of listeners as readonly Record<keyof T, Method>[])
        fenced(() => listener[name](...values), onFailure);
    };
  }
  return combined as T;
}
