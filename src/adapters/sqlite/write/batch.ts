import type Database from 'better-sqlite3';
import { isLocked } from '../errors.ts';
import type { FileGuard } from '../health/file-guard.ts';
import { type Failure, type Findings, failureIn, failureOf, findingsOf } from '../health/findings.ts';
import { assertSchema, causeOf } from '../inspection.ts';
import type { Outcome, Write, Written } from './protocol.ts';

/** All writes of a batch wait for its commit, so a larger batch would delay the responses to all its writes. */
export const BATCH_LIMIT = 1_000;

export interface Report {
  /** One for each write, or none when another process held the lock of the database and no write ran. */
  readonly outcomes: readonly Outcome[];
  readonly findings: Findings;
  readonly commitMs?: number;
}

export const UNKNOWN: string = ': it is unknown whether this was stored';

/** Stores each batch of writes in one transaction. A failed write does not affect the other writes of its batch. */
export class BatchRunner {
  readonly db: Database.Database;
  readonly guard: FileGuard;
  readonly #prepared = new Map<string, Database.Statement>();
  #lockTimeout: number | undefined;
  readonly #schemaVersion: Database.Statement;
  #checkedSchema: unknown;

  constructor(db: Database.Database, guard: FileGuard) {
    this.db = db;
    this.guard = guard;
    this.#schemaVersion = db.prepare('PRAGMA schema_version').pluck();
  }

  /** @param lockTimeout the maximum wait for the lock, in whole milliseconds; if the writes run again, they wait again */
  commitBatch(writes: readonly Write[], lockTimeout: number): Report {
    let isCommitting = false;
    const startedAt = performance.now();
    try {
      this.#beginWithin(lockTimeout);
      this.#assertSchema();
      const outcomes = this.#runWrites(writes, lockTimeout);
      this.guard.assertUnharmed();
      isCommitting = true;
      this.#statement('COMMIT').run();
      this.guard.afterCommit();
      const findings = { file: null, ...writeFindings(outcomes) };
      return { outcomes, findings, commitMs: performance.now() - startedAt };
    } catch (error) {
      this.#rollBack();
      if (isLocked(error) && !isCommitting) return { outcomes: [], findings: {} };
      const failure = isCommitting ? commitFailureOf(error) : this.#failureOf(error);
      return { outcomes: writes.map(() => failure), findings: this.#findings(failure) };
    }
  }

  #findings(failure: Failure): Findings {
    const access = failureIn(() => this.guard.assertWritable());
    return { ...findingsOf(failure, 'write'), ...(access && { access }) };
  }

  #beginWithin(lockTimeout: number): void {
    if (lockTimeout !== this.#lockTimeout) {
      this.db.pragma(`busy_timeout = ${lockTimeout}`);
      this.#lockTimeout = lockTimeout;
    }
    this.#statement('BEGIN IMMEDIATE').run();
  }

  /** Another program can add a trigger, which changes what a write does, without changing the database file. */
  #assertSchema(): void {
    const version = this.#schemaVersion.get();
    if (version === this.#checkedSchema) return;
    assertSchema(this.db);
    this.#checkedSchema = version;
  }

  /** Ignores an error: if a transaction is still open, the BEGIN of the next batch fails, and reports its error. */
  #rollBack(): void {
    try {
      this.db.exec('ROLLBACK');
    } catch {}
  }

  /** Savepoints take time: only if a write fails, all writes run again with savepoints. */
  #runWrites(writes: readonly Write[], lockTimeout: number): Outcome[] {
    try {
      return writes.map((write) => this.#runWrite(write));
    } catch (error) {
      if (!this.db.inTransaction) throw error;
      this.#rollBack();
      this.#beginWithin(lockTimeout);
      return writes.map((write) => this.#runInSavepoint(write));
    }
  }

  #runInSavepoint(write: Write): Outcome {
    this.db.exec('SAVEPOINT write');
    let outcome: Outcome;
    try {
      outcome = this.#runWrite(write);
    } catch (error) {
      if (!this.db.inTransaction) throw error;
      this.db.exec('ROLLBACK TO write');
      outcome = this.#failureOf(error);
    }
    this.db.exec('RELEASE write');
    return outcome;
  }

  #runWrite(write: Write): Written {
    let written: Written = { changes: 0, rowId: 0n };
    for (const [sql, ...values] of write) {
      const { changes, lastInsertRowid } = this.#statement(sql).run(...values);
      written = { changes, rowId: BigInt(lastInsertRowid) };
      if (changes === 0) break;
    }
    return written;
  }

  #failureOf(error: unknown): Failure {
    return failureOf(causeOf(error, this.db));
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

/** The write-ahead log can contain pages of a failed commit, which a recovery would store, but not after a full disk. */
function commitFailureOf(error: unknown): Failure {
  const failure = failureOf(error);
  if (failure.reason === undefined || failure.reason === 'disk_full') return failure;
  return { ...failure, message: failure.message + UNKNOWN };
}

/** A batch that changed nothing wrote nothing to the disk. */
function writeFindings(outcomes: readonly Outcome[]): Findings {
  let hasChanged = false;
  for (const outcome of outcomes) {
    if ('changes' in outcome) hasChanged ||= outcome.changes > 0;
    else if (outcome.reason !== undefined) return findingsOf(outcome, 'write');
  }
  return hasChanged ? { write: null } : {};
}
