/** What the writer thread does: many units of work in one transaction, and so one fsync for all of them. */

import type Database from 'better-sqlite3';
import { isLocked } from './errors.ts';
import { type Failure, type Findings, failureOf, findingsOf } from './findings.ts';

/** How many units share one transaction at most, so that no response waits for a very long one. */
export const BATCH_LIMIT = 1_000;

export type Value = string | number | bigint | Uint8Array | null;
export type Statement = readonly [sql: string, ...values: Value[]];

/** Statements that take effect together or not at all. */
export type Unit = readonly Statement[];

/** What the last statement of a unit did: rows changed, and the id of the last one inserted. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}

export type Outcome = Written | Failure;

export interface Report {
  /** One per unit; none when another process held the lock, so that nothing was tried. */
  readonly outcomes: readonly Outcome[];
  readonly isLocked: boolean;
  readonly findings: Findings;
}

/** Sees to it that a commit is one to the file at the store's path. Both throw when it is not. */
export interface CommitGuard {
  beforeCommit(): void;
  afterCommit(): void;
  /** Why a commit may have failed, beyond what SQLite says. */
  findings(): Findings;
}

const UNKNOWN = ': whether this was stored is unknown';

/** Runs units in order; one that fails leaves its neighbours alone. */
export class BatchRunner {
  readonly #db: Database.Database;
  readonly #guard: CommitGuard;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  #lockTimeout: number | undefined;

  constructor(db: Database.Database, guard: CommitGuard) {
    this.#db = db;
    this.#guard = guard;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  /**
   * One outcome per unit. All of them fail when the commit does.
   * @param lockTimeout how long to wait for the lock of another process, in whole milliseconds
   */
  run(units: readonly Unit[], lockTimeout: number): Report {
    let isCommitting = false;
    try {
      this.#beginWithin(lockTimeout);
      const outcomes = units.map((unit) => this.#runUnit(unit));
      this.#guard.beforeCommit();
      isCommitting = true;
      this.#commit.run();
      this.#guard.afterCommit();
      return { outcomes, isLocked: false, findings: { file: null, write: faultAmong(outcomes) } };
    } catch (error) {
      this.#rollBack();
      if (isLocked(error) && !isCommitting) return { outcomes: [], isLocked: true, findings: {} };
      const failure = isCommitting ? commitFailureOf(error) : failureOf(error);
      return {
        outcomes: units.map(() => failure),
        isLocked: false,
        findings: this.#findings(failure, isCommitting),
      };
    }
  }

  /** Before the commit nothing is written to the disk: what is full then are the ids, every one of them given away. */
  #findings(failure: Failure, isCommitting: boolean): Findings {
    if (failure.reason === 'disk_full' && !isCommitting) return {};
    return { ...findingsOf(failure), ...this.#guard.findings() };
  }

  #beginWithin(lockTimeout: number): void {
    if (lockTimeout !== this.#lockTimeout) {
      this.#db.pragma(`busy_timeout = ${lockTimeout}`);
      this.#lockTimeout = lockTimeout;
    }
    this.#begin.run();
  }

  /** After some errors SQLite has done so by itself; where it cannot, the next BEGIN says so. */
  #rollBack(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    } catch {}
  }

  /** A statement that fails undoes itself, so only a unit of several needs a savepoint. */
  #runUnit(unit: Unit): Outcome {
    try {
      return unit.length === 1
        ? this.#runStatements(unit)
        : this.#db.transaction(() => this.#runStatements(unit))();
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      return failureOf(error);
    }
  }

  #runStatements(unit: Unit): Written {
    let written: Written = { changes: 0, rowId: 0n };
    for (const [sql, ...values] of unit) {
      const { changes, lastInsertRowid } = this.#statement(sql).run(...values);
      written = { changes, rowId: BigInt(lastInsertRowid) };
    }
    return written;
  }

  #statement(sql: string): Database.Statement {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** Frames of a commit that failed can be in the log, where a recovery after a crash would find them. */
function commitFailureOf(error: unknown): Failure {
  const failure = failureOf(error);
  if (failure.reason === undefined || failure.reason === 'disk_full') return failure;
  return { ...failure, message: failure.message + UNKNOWN };
}

/** A unit alone finds the disk full when every id has been given away. */
function faultAmong(outcomes: readonly Outcome[]): Failure | null {
  for (const outcome of outcomes) {
    if ('code' in outcome && outcome.reason !== undefined && outcome.reason !== 'disk_full') return outcome;
  }
  return null;
}
