import { FUNCTION, OBJECT, objectOf, type Rule } from './arguments.ts';
import { failureReporter, fenced } from './failures.ts';
import type { FailureObserver, Observer } from './ports/observer.ts';
import type { RequestObserver } from './ports/request-observer.ts';

/** One object can observe a server and its storage. */
export const OBSERVER: Rule = objectOf<Observer & RequestObserver>(OBJECT, {
  onRequest: FUNCTION,
  onError: FUNCTION,
  onCommit: FUNCTION,
  onStorageState: FUNCTION,
  onWarning: FUNCTION,
  onFailure: FUNCTION,
});

type Method = (...values: readonly unknown[]) => unknown;

export function combineObservers(observers: readonly Observer[]): Observer {
  return combineMethods(observers, ['onCommit', 'onStorageState', 'onWarning', 'onFailure']);
}

/**
 * Combines several observers into one, without the methods that no observer has: their values need not be measured.
 * They are {@link fenced}, and their failures are reported.
 */
export function combineMethods<T extends FailureObserver>(
  observers: readonly T[],
  names: readonly (keyof T)[],
): T {
  const report = failureReporter(observers);
  const combined: Partial<Record<keyof T, Method>> = {};
  for (const name of names) {
    const listeners = (observers as readonly Partial<Record<keyof T, Method>>[]).filter((each) => each[name]);
    if (listeners.length === 0) continue;
    const onFailure = (error: unknown): void => report(`the observer method ${String(name)}`, error);
    combined[name] = (...values) => {
      for (const listener of listeners) fenced(() => listener[name]?.(...values), onFailure);
    };
  }
  return combined as T;
}
