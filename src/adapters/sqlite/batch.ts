/** What the writer thread does: many units of work in one transaction, and so one fsync for all of them. */

import type Database from 'better-sqlite3';
import type { ErrorCode } from '../../domain/errors.ts';
import { storageError } from './errors.ts';

export type Value = string | number | bigint | Uint8Array | null;
export type Statement = readonly [sql: string, ...values: Value[]];

/** Statements that take effect together or not at all. */
export type Unit = readonly Statement[];

/** What the last statement of a unit did: rows changed, and the id of the last one inserted. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** What SQLite said. */
  readonly detail: string;
}

export type Outcome = Written | Failure;

/** Runs units in order; one that fails leaves its neighbours alone. */
export class BatchRunner {
  readonly #db: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  /** One outcome per unit. All of them fail when the commit does: then nothing was stored. */
  run(units: readonly Unit[]): Outcome[] {
    try {
      this.#begin.run();
      const outcomes = units.map((unit) => this.#runUnit(unit));
      this.#commit.run();
      return outcomes;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      const failure = failureOf(error);
      return units.map(() => failure);
    }
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

function failureOf(error: unknown): Failure {
  const { code, message } = storageError(error);
  return { code, message, detail: String(error) };
}
