/** Writes and outcomes are sent as flat arrays, because copying nested arrays between threads takes much longer. */

import type { Commit } from '../../../application/ports/observer.ts';
import type { Failure, Findings } from '../health/findings.ts';
import type { Outcome } from './batch.ts';
import type { Statement, Value, Write } from './statement.ts';

/** A batch of writes to run, or a test of the storage (a probe). */
export type Task = BatchTask | { readonly tryWrite: boolean };

export interface BatchTask {
  readonly writes: Value[];
  readonly lockTimeout: number;
}

export type Reply = BatchReply | { readonly findings: Findings };

interface BatchReply {
  readonly outcomes: readonly PackedOutcome[];
  readonly findings: Findings;
  /** Set in the reply to the first of the batches that share a committed transaction. */
  readonly transaction: Commit | undefined;
}

/** The first message of the writer thread, when it has loaded the SQLite driver. */
export const READY = 'ready';

type PackedOutcome = number | bigint | Failure;

/**
 * Each write is the number of its statements, and the statements. Each statement is its SQL, the number of its values,
 * and the values. Copying a string takes time, so SQL that occurred before is a number: 0 for the first SQL.
 */
export function packWrites(writes: readonly Write[]): Value[] {
  const message: Value[] = [];
  const numbers = new Map<string, number>();
  for (const write of writes) {
    message.push(write.length);
    for (const [sql, ...values] of write) {
      const number = numbers.get(sql);
      if (number === undefined) numbers.set(sql, numbers.size);
      message.push(number ?? sql, values.length, ...values);
    }
  }
  return message;
}

export function unpackWrites(message: readonly Value[]): Write[] {
  const writes: Write[] = [];
  const known: string[] = [];
  let at = 0;
  while (at < message.length) {
    const write: Statement[] = [];
    let statements = message[at++] as number;
    for (; statements > 0; statements--) {
      const end = at + 2 + (message[at + 1] as number);
      const sql = message[at] as string | number;
      if (typeof sql === 'string') known.push(sql);
      write.push([typeof sql === 'string' ? sql : (known[sql] ?? ''), ...message.slice(at + 2, end)]);
      at = end;
    }
    writes.push(write);
  }
  return writes;
}

/** A successful outcome is two values: the number of changed rows, and the row id. A failure is one value. */
export function packOutcomes(outcomes: readonly Outcome[]): PackedOutcome[] {
  const message: PackedOutcome[] = [];
  for (const outcome of outcomes) {
    if ('code' in outcome) message.push(outcome);
    else message.push(outcome.changes, outcome.rowId);
  }
  return message;
}

export function unpackOutcomes(message: readonly PackedOutcome[]): Outcome[] {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < message.length; at++) {
    const first = message[at] as number | Failure;
    outcomes.push(typeof first === 'number' ? { changes: first, rowId: message[++at] as bigint } : first);
  }
  return outcomes;
}
