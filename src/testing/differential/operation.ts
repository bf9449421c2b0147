/** The type of an operation in a random sequence, and of the objects on which it works. */

import type { StoreStorage } from '../../application/ports/storage.ts';
import type { Random } from '../random.ts';
import type { Model } from './model.ts';

/** The storage and the model that an operation works on. The storage has every part that the operation needs. */
export interface World {
  storage: StoreStorage;
  readonly model: Model;
  readonly random: Random;
  /** The time of the call, in milliseconds. It increases with each operation. */
  now: number;
  /** Moves the clock that decides when records of idempotency keys end. */
  readonly moveClock: (milliseconds: number) => Promise<void>;
  /** Closes the storage, and opens it again. */
  readonly reopen: () => Promise<void>;
}

/** The parts that a storage can lack. */
export const PARTS = [
  'apiKeys',
  'idempotentCreates',
  'idempotencyRecords',
  'transfer',
  'changes',
  'idempotentChanges',
] as const;

export type Part = 'pets' | (typeof PARTS)[number] | 'reopen' | 'moveClock';

export interface Operation {
  readonly part: Part;
  /** The frequency with which the operation is chosen, relative to the other operations. */
  readonly weight: number;
  /** The outcomes, in words. Each of them must occur in the random sequences. */
  readonly outcomes: readonly string[];
  /** Resolves with the outcome. Rejects when the storage and the model differ. */
  run(world: World): Promise<string>;
}

/** The time between two operations, in milliseconds. */
export const TICK = 1000;

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T;
}
