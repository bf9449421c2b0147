/**
 * Encodes and decodes the messages between the main thread and the writer thread. Writes and outcomes are encoded as
 * flat arrays, because copying nested arrays between threads takes much longer. A write is a list of SQL statements
 * that take effect together or not at all.
 */

import type { StorageFaultReason } from '../../application/ports/storage-fault.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Outcome, Report } from './batch.ts';
import type { Failure } from './findings.ts';
import type { Statement, Value, Write } from './statement-writer.ts';

/** A task for the writer thread: to run a batch of writes, or to test the storage (a probe). */
export type Task =
  | { readonly writes: Value[]; readonly lockTimeout: number }
  | { readonly tryWrite: boolean };

/** The reply of the writer thread: the report of a batch, or the findings of a probe. */
export interface Reply extends Omit<Report, 'outcomes'> {
  readonly isProbe: boolean;
  readonly outcomes: readonly Value[];
}

/**
 * Encodes each write as the number of its statements, followed by the statements. Encodes each statement as its SQL,
 * the number of its values, and the values. SQL that occurred before in the message is encoded as its number: the first
 * SQL is 0, the next different SQL is 1. Copying a string takes time, and most statements of a batch have equal SQL.
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

/**
 * Encodes each outcome as three values. A successful outcome is encoded as the number of changed rows, the row id and
 * `null`. A failure is encoded as its code and its reason in one string, its message and its detail.
 */
export function packOutcomes(outcomes: readonly Outcome[]): Value[] {
  const message: Value[] = [];
  for (const outcome of outcomes) {
    if ('code' in outcome) {
      message.push(`${outcome.code} ${outcome.reason ?? ''}`, outcome.message, outcome.detail);
    } else message.push(outcome.changes, outcome.rowId, null);
  }
  return message;
}

export function unpackOutcomes(message: readonly Value[]): Outcome[] {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < message.length; at += 3) {
    const first = message[at];
    outcomes.push(
      typeof first === 'number'
        ? { changes: first, rowId: message[at + 1] as bigint }
        : unpackFailure(first as string, message[at + 1] as string, message[at + 2] as string),
    );
  }
  return outcomes;
}

function unpackFailure(codeAndReason: string, message: string, detail: string): Failure {
  const [code, reason] = codeAndReason.split(' ') as [ErrorCode, StorageFaultReason | ''];
  return { code, message, detail, reason: reason === '' ? undefined : reason };
}
