/**
 * Wraps a storage so that each call of a method waits until `open` is called: by default each create. `waiting` returns the number
 * of calls that wait.
 */

import type { Storage } from '../../src/application/ports/storage.ts';
import { withPets } from './fake-pets.ts';

export interface Gate {
  readonly wrap: (storage: Storage) => Storage;
  readonly open: () => void;
  /** Resolves when the first call has started to wait. */
  readonly entered: Promise<void>;
  readonly waiting: () => number;
}

export function gate(method: 'add' | 'list' = 'add'): Gate {
  let waiting = 0;
  const { promise, resolve: open } = Promise.withResolvers<void>();
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const wrap = (storage: Storage): Storage => {
    const call = storage.pets[method].bind(storage.pets) as (argument: unknown) => Promise<never>;
    const wait = async (argument: unknown) => {
      enter();
      waiting += 1;
      await promise;
      waiting -= 1;
      return call(argument);
    };
    return withPets(storage, { [method]: wait });
  };
  return { wrap, open, entered, waiting: () => waiting };
}
