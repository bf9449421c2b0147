/** How batches and outcomes cross between threads: as flat arrays, since nested ones cost ten times as much to copy. */

import type { ErrorCode } from '../../domain/errors.ts';
import type { Outcome, Report, Statement, Unit, Value } from './batch.ts';

/** What the writer thread is asked to do: a batch, or to find out how the storage is. */
export type Task = { readonly units: Value[]; readonly lockTimeout: number } | { readonly tryWrite: boolean };

/** What it replies: the report of a batch; of a probe only what it found. */
export interface Reply extends Omit<Report, 'outcomes'> {
  readonly isProbe: boolean;
  readonly outcomes: readonly Value[];
}

/** Per unit its number of statements; per statement its SQL, its number of values, and these. */
export function packUnits(units: readonly Unit[]): Value[] {
  const message: Value[] = [];
  for (const unit of units) {
    message.push(unit.length);
    for (const [sql, ...values] of unit) message.push(sql, values.length, ...values);
  }
  return message;
}

export function unpackUnits(message: readonly Value[]): Unit[] {
  const units: Unit[] = [];
  let at = 0;
  while (at < message.length) {
    const unit: Statement[] = [];
    let statements = message[at++] as number;
    for (; statements > 0; statements--) {
      const end = at + 2 + (message[at + 1] as number);
      unit.push([message[at] as string, ...message.slice(at + 2, end)]);
      at = end;
    }
    units.push(unit);
  }
  return units;
}

/** Per outcome three values: rows changed and row id, or code, message and detail. */
export function packOutcomes(outcomes: readonly Outcome[]): Value[] {
  const message: Value[] = [];
  for (const outcome of outcomes) {
    if ('code' in outcome) message.push(outcome.code, outcome.message, outcome.detail);
    else message.push(outcome.changes, outcome.rowId, null);
  }
  return message;
}

export function unpackOutcomes(message: readonly Value[]): Outcome[] {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < message.length; at += 3) {
    const [first, second, third] = message.slice(at, at + 3);
    outcomes.push(
      typeof first === 'number'
        ? { changes: first, rowId: second as bigint }
        : { code: first as ErrorCode, message: second as string, detail: third as string },
    );
  }
  return outcomes;
}
