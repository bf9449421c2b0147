import { AnimalStoreError } from '../../domain/errors.ts';
import { unpackOutcomes } from './codec.ts';
import type { Unit, Value, Written } from './statement-writer.ts';

/** A unit that waits for its commit. A unit is a list of SQL statements that take effect together or not at all. */
export interface QueuedUnit {
  readonly unit: Unit;
  readonly size: number;
  /** The latest time at which the commit of the unit may begin, as a value of `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: AnimalStoreError) => void;
}

/**
 * Resolves or rejects the promise of each unit. `values` are the encoded outcomes of the units. Returns the number of
 * units that succeeded.
 */
export function settleUnits(units: readonly QueuedUnit[], values: readonly Value[]): number {
  let successful = 0;
  const outcomes = unpackOutcomes(values);
  for (const [index, { resolve, reject }] of units.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    if ('code' in outcome) {
      reject(new AnimalStoreError(outcome.code, outcome.message, { cause: outcome.detail }));
    } else {
      resolve(outcome);
      successful += 1;
    }
  }
  return successful;
}

export function rejectUnits(units: readonly QueuedUnit[], error: AnimalStoreError): void {
  for (const { reject } of units) reject(error);
}
