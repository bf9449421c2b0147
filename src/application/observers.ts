/** Calls observers, and reports failures of background work, for which no caller waits. */

import { FUNCTION, OBJECT, type OptionRules, objectOf, type Rule } from './arguments.ts';
import type { Observer } from './ports/observer.ts';
import type { RequestObserver } from './ports/request-observer.ts';

/** The methods of both kinds of observers, because one object can observe both a server and its storage. */
type AnyObserver = Observer & RequestObserver;

const METHODS: OptionRules<AnyObserver> = {
  onRequest: FUNCTION,
  onError: FUNCTION,
  onCommit: FUNCTION,
  onStorageState: FUNCTION,
  onWarning: FUNCTION,
  onFailure: FUNCTION,
};
export const OBSERVER: Rule = /* @__PURE__ */ objectOf<AnyObserver>(OBJECT, METHODS);

/** In milliseconds. */
const INTERVAL = 60_000;

/** Reports that background work, for which no caller waits, has failed. */
export type ReportFailure = (work: string, error: unknown) => void;

/** Reports at most one failure a minute for each kind of work: to every `onFailure` or, if there is none, to the console. */
export function failureReporter(observers: readonly AnyObserver[]): ReportFailure {
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

/** Calls code of the host program, such as an observer. If it throws or rejects, only the callback `onFailure` gets the error. */
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

/**
 * Combines observers into one observer, which has each method that at least one of them has. The combined observer calls their
 * methods through {@link fenced}, and reports their failures.
 */
export function joinObservers(observers: readonly AnyObserver[]): AnyObserver {
  const report = failureReporter(observers);
  const combined: Partial<Record<keyof AnyObserver, Method>> = {};
  for (const name of Object.keys(METHODS) as (keyof AnyObserver)[]) {
    const listeners = observers.filter((observer) => observer[name] !== undefined);
    if (listeners.length === 0) continue;
    const onFailure = (error: unknown): void => report(`the observer method ${name}`, error);
    combined[name] = (...values) => {
      for (const listener of listeners as readonly Record<typeof name, Method>[])
        fenced(() => listener[name](...values), onFailure);
    };
  }
  return combined;
}
