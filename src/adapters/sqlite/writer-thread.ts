/** The thread that writes to a store: the batches of a `Writer`, or the statements of an `OwnConnection`, one at a time. */

import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { INT64_MAX } from '../../domain/int64.ts';
import { idsExhausted } from '../storage-kit/problems.ts';
import { codeOf, rowDropped } from '../storage-kit/store-errors.ts';
import { whenUnlocked } from './connection.ts';
import { openWriter } from './database.ts';
import { attempt, failedCommit, type PlainError, plainError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';
import { lastIdOf } from './schema.ts';
import { receive } from './threads.ts';

export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlStatement = readonly [sql: string, ...values: SqlValue[]];

/**
 * Statements that take effect together or not at all. The first one is a condition: when it changes no row, the others do not run.
 * If one of the others changes no row, for example because a trigger drops the row, the write fails.
 */
export type Write = readonly SqlStatement[];

/** The effect of the last statement that ran in a write. */
export type Written = { readonly changes: number; readonly rowId: bigint };
type Outcome = Written | PlainError;

export interface Batch {
  readonly writes: readonly Write[];
  /** How long to wait for the lock of the database, in milliseconds. */
  readonly lockTimeout: number;
}

export interface Reply {
  /** One for each write. */
  readonly outcomes: readonly Outcome[];
  readonly ms: number;
}

/** SQL of an `OwnConnection`: a statement that runs for each of `rows` or, if `rows` is empty, statements without results. */
export interface Call {
  readonly sql: string;
  readonly rows: readonly (readonly SqlValue[])[];
}

/** For each of `rows`: the first value that `sql` returns, or the driver's `run` result if `sql` cannot return rows. */
export type Answer = { readonly results: readonly unknown[] } | PlainError;

/** How long an `OwnConnection` waits for the lock of the database, in milliseconds. */
const LOCK_TIMEOUT = 5000;

const files = workerData as StoreFiles;
const prepared = new Map<string, Database.Statement>();
let db: Database.Database | undefined;
let isUnfinished = false;

// If the file cannot be opened, the thread tries again at the first message. If that fails too, the response reports the error.
attempt(open, undefined);
receive<Batch | Call>(end, (message) => ('sql' in message ? answer(message) : commit(message)));
parentPort?.postMessage('ready');

function open(): Database.Database {
  if (db !== undefined) return db;
  db = openWriter(files);
  db.pragma('busy_timeout = 0');
  return db;
}

/** Commits the writes in one transaction. If one fails, and the storage is not the cause, each gets its own transaction. */
function commit({ writes, lockTimeout }: Batch): Reply {
  const startedAt = performance.now();
  const deadline = startedAt + lockTimeout;
  const alone = (write: Write): readonly Outcome[] => transact([write], deadline) ?? [];
  const outcomes = transact(writes, deadline) ?? writes.flatMap(alone);
  return { outcomes, ms: performance.now() - startedAt };
}

/** Returns `undefined` if one of several writes has failed, and the storage is not the cause. In this case, nothing was stored. */
function transact(writes: readonly Write[], deadline: number): readonly Outcome[] | undefined {
  let isCommitting = false;
  try {
    const begin = statement('BEGIN IMMEDIATE');
    whenUnlocked(() => begin.run(), deadline);
    const outcomes = writes.map(run);
    assertSameFiles(files);
    isCommitting = true;
    statement('COMMIT').run();
    return outcomes;
  } catch (error) {
    if (db?.inTransaction) db.exec('ROLLBACK');
    if (isCommitting) return writes.map(() => failedCommit(error));
    // SQLite also reports a full disk when fewer ids are left than the new pets need.
    const isOfIds = codeOf(error) === 'SQLITE_FULL' && INT64_MAX - lastIdOf(open()) < writes.length;
    const failure = plainError(isOfIds ? idsExhausted() : error);
    const isOfStorage = failure.reason !== undefined && !isOfIds;
    return isOfStorage || writes.length === 1 ? writes.map(() => failure) : undefined;
  }
}

function run(write: Write): Written {
  let written: Written = { changes: 0, rowId: 0n };
  for (const [index, [sql, ...values]] of write.entries()) {
    const { changes, lastInsertRowid } = statement(sql).run(...values);
    written = { changes, rowId: BigInt(lastInsertRowid) };
    if (changes > 0) continue;
    if (index === 0) break;
    throw rowDropped();
  }
  return written;
}

function statement(sql: string): Database.Statement {
  const known = prepared.get(sql) ?? open().prepare(sql);
  prepared.set(sql, known);
  return known;
}

function answer({ sql, rows }: Call): Answer {
  const isCommit = sql === 'COMMIT';
  try {
    if (isCommit) assertSameFiles(files);
    const results = rows.length > 0 ? runAll(sql, rows) : [];
    if (rows.length === 0) whenUnlocked(() => open().exec(sql), performance.now() + LOCK_TIMEOUT);
    isUnfinished = !isCommit;
    return { results };
  } catch (error) {
    return isCommit ? failedCommit(error) : plainError(error);
  }
}

function runAll(sql: string, rows: readonly (readonly SqlValue[])[]): readonly unknown[] {
  const prepared = statement(sql);
  if (prepared.reader) return rows.map((row) => prepared.pluck().get(...row));
  return open().transaction(() => rows.map((row) => prepared.run(...row)))();
}

/** Empties the write-ahead log after a failed import, because the log may have filled the disk. */
function end(): void {
  try {
    if (db?.inTransaction) db.exec('ROLLBACK');
    if (isUnfinished) db?.exec('PRAGMA busy_timeout = 1000; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {}
  db?.close();
}
