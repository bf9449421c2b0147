/**
 * Wraps a storage so that each create waits until `open` is called. `waiting` returns the number of creates that wait.
 */

import type { Storage } from '../../src/application/ports/storage.ts';
import { withPets } from './fake-pets.ts';

export interface Gate {
  readonly wrap: (storage: Storage) => Storage;
  readonly open: () => void;
  /** Resolves when the first create has started to wait. */
  readonly entered: Promise<void>;
  readonly waiting: () => number;
}

export function gate(): Gate {
  let waiting = 0;
  const { promise, resolve: open } = Promise.withResolvers<void>();
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const wrap = (storage: Storage): Storage =>
    withPets(storage, {
      add: async (pet) => {
        enter();
        waiting += 1;
        await promise;
        waiting -= 1;
        return storage.pets.add(pet);
      },
    });
  return { wrap, open, entered, waiting: () => waiting };
}
