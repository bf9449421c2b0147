import { fenced } from './fenced.ts';
import type { Observer } from './ports/observer.ts';

const METHODS = ['onRequest', 'onError', 'onCommit', 'onStorageState', 'onWarning'] as const;

type Method = (...values: readonly unknown[]) => unknown;

type Methods = Partial<Record<(typeof METHODS)[number], Method>>;

/**
 * Combines several observers into one, without the methods that no observer has: their values need not be measured.
 * They are {@link fenced}.
 */
export function combineObservers(observers: readonly Observer[]): Observer {
  const combined: Methods = {};
  for (const name of METHODS) {
    const listeners = (observers as readonly Methods[]).filter((observer) => observer[name] !== undefined);
    if (listeners.length === 0) continue;
    combined[name] = (...values) => {
      for (const listener of listeners) fenced(() => (listener[name] as Method)(...values));
    };
  }
  return combined;
}
