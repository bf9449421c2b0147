/**
 * Runs many writes in one transaction, so that these writes need only one fsync. A write is a list of SQL statements
 * that take effect together or not at all. Only the writer thread uses this module.
 */

import type Database from 'better-sqlite3';
import { isLocked } from './errors.ts';
import { type Failure, type Findings, failureOf, findingsOf } from './findings.ts';
import { causeOf } from './inspection.ts';
import type { Statement, Write, Written } from './statement-writer.ts';

/**
 * The maximum number of writes in one batch. A batch is the list of writes that one transaction stores. All writes of a
 * batch wait for its commit, so a larger batch would delay the responses to all its writes.
 */
export const BATCH_LIMIT = 1_000;

export type Outcome = Written | Failure;

export interface Report {
  /**
   * One outcome for each write. The list is empty when no write ran, because another process held the lock of the
   * database.
   */
  readonly outcomes: readonly Outcome[];
  readonly isLocked: boolean;
  readonly findings: Findings;
  /**
   * The time from the start of the transaction until the transaction was durable, in milliseconds. `undefined` when
   * nothing was committed.
   */
  readonly commitMs: number | undefined;
}

/**
 * Checks before and after each commit that the database file that SQLite has open is still the file at the path of the
 * store. A check throws when the file at this path was removed, replaced or damaged.
 */
export interface CommitGuard {
  beforeCommit(): void;
  afterCommit(): void;
  /**
   * Called after a failed batch. Returns faults of the files that may be the cause, such as a read-only database file.
   */
  findings(): Findings;
}

/** The effect of a write without statements. */
const NOTHING: Written = { changes: 0, rowId: 0n };

const UNKNOWN = ': it is unknown whether this was stored';

/**
 * Runs batches of writes: each batch in one transaction. A write is a list of SQL statements that take effect together
 * or not at all. A failed write does not affect the other writes of its batch.
 */
export class BatchRunner {
  readonly #db: Database.Database;
  readonly #guard: CommitGuard;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #beginWrite: Database.Statement;
  readonly #endWrite: Database.Statement;
  readonly #undoWrite: Database.Statement;
  #lockTimeout: number | undefined;

  constructor(db: Database.Database, guard: CommitGuard) {
    this.#db = db;
    this.#guard = guard;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#beginWrite = db.prepare('SAVEPOINT write');
    this.#endWrite = db.prepare('RELEASE write');
    this.#undoWrite = db.prepare('ROLLBACK TO write');
  }

  /**
   * Runs the writes in order, in one transaction. Runs no write when another process holds the lock of the database for
   * longer than `lockTimeout`. When the commit fails, the outcome of every write is a failure.
   * @param lockTimeout the maximum wait for the lock, in whole milliseconds; if the writes run again, they wait again
   */
  run(writes: readonly Write[], lockTimeout: number): Report {
    let isCommitting = false;
    const startedAt = performance.now();
    try {
      this.#beginWithin(lockTimeout);
      const outcomes = this.#runWrites(writes, lockTimeout);
      this.#guard.beforeCommit();
      isCommitting = true;
      this.#commit.run();
      this.#guard.afterCommit();
      return {
        outcomes,
        isLocked: false,
        findings: { file: null, ...writeFindings(outcomes) },
        commitMs: performance.now() - startedAt,
      };
    } catch (error) {
      this.#rollBack();
      if (isLocked(error) && !isCommitting) {
        return { outcomes: [], isLocked: true, findings: {}, commitMs: undefined };
      }
      const failure = isCommitting ? commitFailureOf(error) : failureOf(error);
      return {
        outcomes: writes.map(() => failure),
        isLocked: false,
        findings: this.#findings(failure, isCommitting),
        commitMs: undefined,
      };
    }
  }

  /**
   * Returns the faults of the storage that a failed batch has revealed. A failure with the reason `disk_full` before
   * the commit is not such a fault. It means that all ids are assigned, because nothing is written to the disk before
   * the commit. SQLite has the same error code for a full disk.
   */
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

  /**
   * Rolls back the transaction, unless SQLite has already rolled it back. Ignores an error of the rollback: after such
   * an error, the BEGIN of the next batch fails, and the error of BEGIN is reported.
   */
  #rollBack(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    } catch {}
  }

  /**
   * Runs all writes without savepoints, because savepoints take time. SQLite undoes a failed statement itself. Only if
   * another statement than the first one of a write fails, all writes run again, in a new transaction with savepoints.
   */
  #runWrites(writes: readonly Write[], lockTimeout: number): Outcome[] {
    const outcomes: Outcome[] = [];
    for (const write of writes) {
      const outcome = this.#runWrite(write);
      if (outcome === undefined) {
        this.#rollBack();
        this.#beginWithin(lockTimeout);
        return writes.map((each) => this.#runInSavepoint(each));
      }
      outcomes.push(outcome);
    }
    return outcomes;
  }

  /** Runs one write. Returns `undefined` when some of its statements took effect and another one failed. */
  #runWrite(write: Write): Outcome | undefined {
    let written: Written | undefined;
    try {
      for (const statement of write) {
        written = this.#runStatement(statement);
        if (written.changes === 0) break;
      }
      return written ?? NOTHING;
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      return written === undefined ? this.#failureOf(error) : undefined;
    }
  }

  #runInSavepoint(write: Write): Outcome {
    this.#beginWrite.run();
    let outcome: Outcome = NOTHING;
    try {
      for (const statement of write) {
        outcome = this.#runStatement(statement);
        if (outcome.changes === 0) break;
      }
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      this.#undoWrite.run();
      outcome = this.#failureOf(error);
    }
    this.#endWrite.run();
    return outcome;
  }

  #failureOf(error: unknown): Failure {
    return failureOf(causeOf(error, this.#db));
  }

  #runStatement([sql, ...values]: Statement): Written {
    const { changes, lastInsertRowid } = this.#statement(sql).run(...values);
    return { changes, rowId: BigInt(lastInsertRowid) };
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Returns the failure of a commit. After a fault of the storage, the message adds that it is unknown whether the writes
 * were stored: the write-ahead log can contain pages of the failed commit, and a recovery after a crash would store
 * these pages. A full disk is an exception: nothing was stored.
 */
function commitFailureOf(error: unknown): Failure {
  const failure = failureOf(error);
  if (failure.reason === undefined || failure.reason === 'disk_full') return failure;
  return { ...failure, message: failure.message + UNKNOWN };
}

/**
 * Returns what a committed batch shows about writing. A batch that changed nothing wrote nothing to the disk, so it
 * shows nothing. The reason `disk_full` of a single write is no fault of the storage. It means that all ids are
 * assigned: SQLite has the same error code for a full disk.
 */
function writeFindings(outcomes: readonly Outcome[]): Findings {
  let hasChanged = false;
  for (const outcome of outcomes) {
    if ('changes' in outcome) hasChanged ||= outcome.changes > 0;
    else if (outcome.reason !== undefined && outcome.reason !== 'disk_full') return { write: outcome };
  }
  return hasChanged ? { write: null } : {};
}
