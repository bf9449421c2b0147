import type { AnimalStoreError } from '../../domain/errors.ts';
import { unpackOutcomes } from './codec.ts';
import { errorOf } from './findings.ts';
import type { Value, Write, Written } from './statement-writer.ts';

/** A write that waits for its commit. A write is a list of SQL statements that take effect together or not at all. */
export interface QueuedWrite {
  readonly write: Write;
  readonly size: number;
  /** The latest time at which the commit of the write may begin, as a value of `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: AnimalStoreError) => void;
}

/**
 * Resolves or rejects the promise of each write. `values` are the encoded outcomes of the writes. Returns the number of
 * writes that succeeded.
 */
export function settleWrites(writes: readonly QueuedWrite[], values: readonly Value[]): number {
  let successful = 0;
  const outcomes = unpackOutcomes(values);
  for (const [index, { resolve, reject }] of writes.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    if ('code' in outcome) {
      reject(errorOf(outcome));
    } else {
      resolve(outcome);
      successful += 1;
    }
  }
  return successful;
}

export function rejectWrites(writes: readonly QueuedWrite[], error: AnimalStoreError): void {
  for (const { reject } of writes) reject(error);
}
