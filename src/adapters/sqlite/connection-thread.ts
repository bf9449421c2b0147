/** The thread of an `OwnConnection`, so that neither the event loop nor other writes wait for its statements. */

import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { openWriter, whenUnlocked } from './database.ts';
import { failedCommit, type PlainError, plainError } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';
import type { SqlValue } from './writer-thread.ts';

/** Without rows, one or several statements without results. */
export interface Call {
  readonly sql: string;
  readonly rows?: readonly (readonly SqlValue[])[];
}

/** For each row, the first value that was selected, or the changes that were made. */
export type Answer = { readonly results: readonly unknown[] } | PlainError;

/** How long a transaction waits for the lock of the database, in milliseconds. */
const LOCK_TIMEOUT = 5000;

const files = workerData as StoreFiles;
let db: Database.Database | undefined;
let isCommitted = false;

parentPort?.on('message', (call: Call | 'close') => {
  if (call !== 'close') return parentPort?.postMessage(answer(call));
  if (db !== undefined) end(db);
  parentPort?.unref();
});

function answer({ sql, rows }: Call): Answer {
  try {
    db ??= openWriter(files);
    return { results: rows === undefined ? execute(db, sql) : runAll(db, sql, rows) };
  } catch (error) {
    return sql === 'COMMIT' ? failedCommit(error) : plainError(error);
  }
}

function execute(db: Database.Database, sql: string): readonly unknown[] {
  if (sql.startsWith('BEGIN')) {
    db.pragma('busy_timeout = 0');
    whenUnlocked(() => db.exec(sql), performance.now() + LOCK_TIMEOUT);
    return [];
  }
  isCommitted = sql === 'COMMIT';
  if (isCommitted) assertSameFiles(files);
  db.exec(sql);
  return [];
}

function runAll(db: Database.Database, sql: string, rows: readonly (readonly SqlValue[])[]): unknown[] {
  const statement = db.prepare(sql);
  if (statement.reader) return rows.map((row) => statement.pluck().get(...row));
  return db.transaction(() => rows.map((row) => statement.run(...row)))();
}

/** A failed import leaves a write-ahead log that can be as large as the disk. */
function end(db: Database.Database): void {
  try {
    if (db.inTransaction) db.exec('ROLLBACK');
    db.pragma('busy_timeout = 0');
    if (!isCommitted) db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {}
  db.close();
}
