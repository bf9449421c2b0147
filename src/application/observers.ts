import type { Observer } from './ports/observer.ts';

/**
 * Combines several observers into one. The combined observer has a method only when at least one of the observers has
 * this method. A missing method tells the service that it need not measure the values for this method. Exceptions of an
 * observer are discarded, because an observer must not make a request or a write fail.
 */
export function combineObservers(observers: readonly Observer[]): Observer {
  return {
    ...each('onRequest', observers),
    ...each('onError', observers),
    ...each('onCommit', observers),
    ...each('onStorageState', observers),
    ...each('onWarning', observers),
  };
}

type Method = (...values: readonly unknown[]) => void;

function each(name: keyof Observer, observers: readonly Observer[]): Observer {
  const listeners = observers.filter((observer) => observer[name] !== undefined) as Record<string, Method>[];
  if (listeners.length === 0) return {};
  const notify: Method = (...values) => {
    for (const listener of listeners) {
      try {
        (listener[name] as Method)(...values);
      } catch {}
    }
  };
  return { [name]: notify };
}
