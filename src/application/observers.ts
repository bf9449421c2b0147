import type { Observer } from './ports/observer.ts';

const METHODS = ['onRequest', 'onError', 'onCommit', 'onStorageState', 'onWarning'] as const;

type Method = (...values: readonly unknown[]) => void;

/**
 * Combines several observers into one. The combined observer has a method only when at least one of the observers has
 * this method. A missing method tells the service that it need not measure the values for this method. Exceptions of an
 * observer are discarded, because an observer must not make a request or a write fail.
 */
export function combineObservers(observers: readonly Observer[]): Observer {
  const combined: Partial<Record<keyof Observer, Method>> = {};
  for (const name of METHODS) {
    const listeners = observers.filter((observer) => observer[name] !== undefined) as Record<
      string,
      Method
    >[];
    if (listeners.length === 0) continue;
    combined[name] = (...values) => {
      for (const listener of listeners) {
        try {
          (listener[name] as Method)(...values);
        } catch {}
      }
    };
  }
  return combined;
}
