/** The writer thread commits batches of writes, so that no event loop waits for the disk. */

import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { openWriter } from './database.ts';
import { idsOrDisk, isLocked, type PlainError, plainError, UNKNOWN } from './errors.ts';
import { assertSameFiles, type StoreFiles } from './files.ts';
import { lastIdOf } from './schema.ts';

export type SqlStatement = readonly [
  sql: string,
  ...values: (string | number | bigint | Uint8Array | null)[],
];

/** Statements that take effect together or not at all. After a statement that changes no row, the others do not run. */
export type Write = readonly SqlStatement[];

/** The effect of the last statement of a write that ran. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}

export type Outcome = Written | PlainError;

export interface Batch {
  readonly writes: readonly Write[];
  /** How long to wait for the lock of the database, in milliseconds. */
  readonly lockTimeout: number;
}

export interface Reply {
  /** One for each write, or none when another process held the lock of the database and no write ran. */
  readonly outcomes: readonly Outcome[];
  readonly ms: number;
}

/** Between two attempts to lock the database, in milliseconds. The waits of SQLite itself grow to 100. */
const LOCK_INTERVAL = 0.5;

const files = workerData as StoreFiles;
const clock = new Int32Array(new SharedArrayBuffer(4));
const prepared = new Map<string, Database.Statement>();
let db: Database.Database | undefined;

// After an error, the first batch opens the file again, and reports the error.
try {
  open();
} catch {}
parentPort?.on('message', (message: Batch | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(commit(message));
    return;
  }
  db?.close();
  // Nothing else keeps the thread alive. Deno has no `close`.
  parentPort?.unref();
});
parentPort?.postMessage('ready');

function open(): Database.Database {
  if (db !== undefined) return db;
  db = openWriter(files);
  db.pragma('busy_timeout = 0');
  return db;
}

/** Commits the writes in one transaction. When a statement fails for a reason of its own, each write is committed alone. */
function commit({ writes, lockTimeout }: Batch): Reply {
  const startedAt = performance.now();
  const deadline = startedAt + lockTimeout;
  const together = transact(writes, deadline);
  const outcomes = together ?? writes.flatMap((write) => transact([write], deadline) ?? []);
  const isLockedOut = outcomes.every((outcome) => outcome === LOCKED);
  return { outcomes: isLockedOut ? [] : outcomes, ms: performance.now() - startedAt };
}

const LOCKED = plainError(
  storageUnavailable('the database was locked by another process: nothing was stored'),
);

/** Returns `undefined` when one of several writes has failed before the commit began: then nothing was stored. */
function transact(writes: readonly Write[], deadline: number): readonly Outcome[] | undefined {
  let isCommitting = false;
  try {
    begin(deadline);
    const outcomes = writes.map(run);
    assertSameFiles(files);
    isCommitting = true;
    statement('COMMIT').run();
    return outcomes;
  } catch (error) {
    if (db?.inTransaction) db.exec('ROLLBACK');
    if (isCommitting) return writes.map(() => maybeStored(plainError(error)));
    if (isLocked(error)) return writes.map(() => LOCKED);
    const failure = plainError(idsOrDisk(error, () => lastIdOf(open()), writes.length));
    const isOwn = failure.reason === undefined || failure.reason === 'ids_exhausted';
    return isOwn && writes.length > 1 ? undefined : writes.map(() => failure);
  }
}

function begin(deadline: number): void {
  for (const begin = statement('BEGIN IMMEDIATE'); ; Atomics.wait(clock, 0, 0, LOCK_INTERVAL)) {
    try {
      begin.run();
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() >= deadline) throw error;
    }
  }
}

function run(write: Write): Written {
  let written: Written = { changes: 0, rowId: 0n };
  for (const [sql, ...values] of write) {
    const { changes, lastInsertRowid } = statement(sql).run(...values);
    written = { changes, rowId: BigInt(lastInsertRowid) };
    if (changes === 0) break;
  }
  return written;
}

function statement(sql: string): Database.Statement {
  let known = prepared.get(sql);
  if (known === undefined) {
    known = open().prepare(sql);
    prepared.set(sql, known);
  }
  return known;
}

/** The write-ahead log can contain pages of a failed commit, which a recovery would store, but not after a full disk. */
function maybeStored(failure: PlainError): PlainError {
  if (failure.reason === undefined || failure.reason === 'disk_full') return failure;
  return { ...failure, message: failure.message + UNKNOWN };
}
