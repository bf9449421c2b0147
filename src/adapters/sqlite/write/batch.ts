import type Database from 'better-sqlite3';
import { LOCK_TIMEOUT } from '../driver.ts';
import { isLocked, type PlainError, plainError } from '../errors.ts';
import { assertIdsLeft, assertSchema, causeOf, READ_ENDS } from '../inspection.ts';
import { assertWritable, type CommitCheck } from '../store-files.ts';
import type { BatchReply, Outcome, ProbeReply, Write, Written } from './protocol.ts';

/** All writes of a batch wait for its commit, so a larger batch would delay the responses to all its writes. */
export const BATCH_LIMIT = 1_000;

export const UNKNOWN: string = ': it is unknown whether this was stored';

/** In bytes: a full batch of pets with the longest names. */
const TEST_SIZE = BATCH_LIMIT * 1024;

/** These transactions change no row of a user. The second one makes the pages of the first one free for pets. */
const TEST_WRITES = [
  `INSERT OR REPLACE INTO probe (id, data) VALUES (1, randomblob(${TEST_SIZE}))`,
  'DELETE FROM probe',
];

/** Stores each batch of writes in one transaction. A failed write does not affect the other writes of its batch. */
export class BatchRunner {
  readonly #db: Database.Database;
  readonly #check: CommitCheck;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #schemaVersion: Database.Statement;
  #checkedSchema: unknown;
  #lockTimeout: number | undefined;
  /** After a failed fsync, nothing is written any more. */
  #syncFailure: PlainError | undefined;

  constructor(db: Database.Database, check: CommitCheck) {
    this.#db = db;
    this.#check = check;
    this.#schemaVersion = db.prepare('PRAGMA schema_version').pluck();
  }

  /** @param lockTimeout the maximum wait for the lock, in whole milliseconds; if the writes run again, they wait again */
  commitBatch(writes: readonly Write[], lockTimeout: number): BatchReply {
    if (this.#syncFailure !== undefined) return allFailed(writes, this.#syncFailure);
    let isCommitting = false;
    const startedAt = performance.now();
    try {
      this.#beginWithin(lockTimeout);
      this.#assertSchema();
      const outcomes = this.#runWrites(writes, lockTimeout);
      this.#check.assertUnharmed();
      isCommitting = true;
      this.#statement('COMMIT').run();
      this.#check.acceptCommit();
      const stored = outcomes.reduce((count, outcome) => ('changes' in outcome ? count + 1 : count), 0);
      return { outcomes, transaction: { writes: stored, ms: performance.now() - startedAt } };
    } catch (error) {
      this.#rollBack();
      if (isLocked(error) && !isCommitting) return { outcomes: [] };
      const failure = plainError(isCommitting ? error : causeOf(error, this.#db));
      if (failure.reason === 'sync_failed') this.#syncFailure = failure;
      return allFailed(writes, isCommitting ? maybeStored(failure) : failure);
    }
  }

  /**
   * Tests whether the store can be read and has ids left, and if it is asked for, whether it can be written. While another
   * process holds the lock, nothing can be tested.
   */
  probe(tryWrite: boolean): ProbeReply {
    try {
      this.#check.assertUnharmed();
      assertWritable(this.#check.files);
      // Cached pages can be read even when the disk fails, so the page cache of the connection is emptied first.
      this.#db.pragma('shrink_memory');
      assertSchema(this.#db);
      this.#db.prepare(READ_ENDS).get();
      assertIdsLeft(this.#db);
    } catch (error) {
      if (!isLocked(error)) return { failure: plainError(error), testWrites: [] };
    }
    const writes = tryWrite ? TEST_WRITES : [];
    return { testWrites: writes.flatMap((sql) => this.commitBatch([[[sql]]], LOCK_TIMEOUT).outcomes) };
  }

  close(): void {
    this.#db.close();
  }

  #beginWithin(lockTimeout: number): void {
    if (lockTimeout !== this.#lockTimeout) {
      this.#db.pragma(`busy_timeout = ${lockTimeout}`);
      this.#lockTimeout = lockTimeout;
    }
    this.#statement('BEGIN IMMEDIATE').run();
  }

  /** Another program can add a trigger, which changes what a write does, without changing the database file. */
  #assertSchema(): void {
    const version = this.#schemaVersion.get();
    if (version === this.#checkedSchema) return;
    assertSchema(this.#db);
    this.#checkedSchema = version;
  }

  /** Ignores an error: if a transaction is still open, the BEGIN of the next batch fails, and reports its error. */
  #rollBack(): void {
    try {
      this.#db.exec('ROLLBACK');
    } catch {}
  }

  /** Savepoints take time: only if a write fails, all writes run again with savepoints. */
  #runWrites(writes: readonly Write[], lockTimeout: number): Outcome[] {
    try {
      return writes.map((write) => this.#runWrite(write));
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      this.#rollBack();
      this.#beginWithin(lockTimeout);
      return writes.map((write) => this.#runInSavepoint(write));
    }
  }

  #runInSavepoint(write: Write): Outcome {
    this.#db.exec('SAVEPOINT write');
    let outcome: Outcome;
    try {
      outcome = this.#runWrite(write);
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      this.#db.exec('ROLLBACK TO write');
      outcome = plainError(causeOf(error, this.#db));
    }
    this.#db.exec('RELEASE write');
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

  #statement(sql: string): Database.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

export function allFailed(writes: readonly Write[], failure: PlainError): BatchReply {
  return { outcomes: writes.map(() => failure) };
}

/** The write-ahead log can contain pages of a failed commit, which a recovery would store, but not after a full disk. */
function maybeStored(failure: PlainError): PlainError {
  if (failure.reason === undefined || failure.reason === 'disk_full') return failure;
  return { ...failure, message: failure.message + UNKNOWN };
}
