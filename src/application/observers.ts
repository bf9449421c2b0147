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

/** The methods of combined observers, which need not be fenced again. */
const combinedMethods = new WeakSet<Method>();

type Method = (...values: readonly unknown[]) => unknown;

export function combineObservers(observers: readonly Observer[]): Observer {
  return combineMethods(observers, ['onCommit', 'onStorageState', 'onWarning', 'onFailure']);
}

/**
 * Combines observers into one, which has only the methods that an observer has: the values of others need not be measured. Each
 * call is {@link fenced}, and its failures are reported.
 */
export function combineMethods<T extends FailureObserver>(
  observers: readonly T[],
  names: readonly (keyof T)[],
): T {
  const report = failureReporter(observers);
  const combined: Partial<Record<keyof T, Method>> = {};
  for (const name of names) {
    const listeners = (observers as readonly Partial<Record<keyof T, Method>>[]).filter(
      (observer) => observer[name] !== undefined,
    );
    const [only, another] = listeners.map((listener) => listener[name]);
    if (only === undefined) continue;
    const onFailure = (error: unknown): void => report(`the observer method ${String(name)}`, error);
    const call: Method = (...values) => {
      for (const listener of listeners) fenced(() => (listener[name] as Method)(...values), onFailure);
    };
    combined[name] = another === undefined && combinedMethods.has(only) ? only : call;
    combinedMethods.add(call);
  }
  return combined as T;
}
