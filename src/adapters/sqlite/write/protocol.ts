/** What the writer thread is sent, and what it replies: plain objects. Flat arrays would save 0.3 us of a create. */

import type { Commit } from '../../../application/ports/observer.ts';
import type { Failure, Findings } from '../health/findings.ts';

export type Value = string | number | bigint | Uint8Array | null;
export type Statement = readonly [sql: string, ...values: Value[]];

/** Statements that take effect together or not at all. After a statement that changes no row, the others do not run. */
export type Write = readonly Statement[];

/** The effect of the last statement of a write that ran. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}

export type Outcome = Written | Failure;

/** A batch of writes to run, or a test of the storage (a probe). */
export type Task = BatchTask | { readonly tryWrite: boolean };

export interface BatchTask {
  readonly writes: readonly Write[];
  readonly lockTimeout: number;
}

export type Reply = BatchReply | { readonly findings: Findings };

interface BatchReply {
  /** One for each write, or none when another process held the lock of the database and no write ran. */
  readonly outcomes: readonly Outcome[];
  readonly findings: Findings;
  /** Set in the reply to the first of the batches that share a committed transaction. */
  readonly transaction: Commit | undefined;
}

/** The first message of the writer thread on each port, when it has loaded the SQLite driver. No task was begun before. */
export const READY = 'ready';
