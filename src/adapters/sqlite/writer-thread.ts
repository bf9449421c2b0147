/**
 * The program of the writer thread. The class `Writer` of the main thread sends SQL statements to this thread. The
 * thread runs them in transactions, so that the event loop of the main thread does not wait for the disk.
 */

import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { BatchRunner } from './batch.ts';
import { packOutcomes, type Reply, type Task, unpackWrites } from './codec.ts';
import { openWriter } from './database.ts';
import { isLocked } from './errors.ts';
import { FileGuard } from './file-guard.ts';
import { failureOf, findingsOf } from './findings.ts';
import { Probe } from './probe.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** How long to wait for a lock of another process while the database file is opened or tested, in milliseconds. */
const LOCK_TIMEOUT = 100;

interface Connection {
  readonly db: Database.Database;
  readonly runner: BatchRunner;
  readonly probe: Probe;
}

const files = workerData as StoreFiles;
let connection: Connection | undefined;

parentPort?.on('message', (task: Task | 'close') => {
  if (task !== 'close') {
    parentPort?.postMessage(perform(task));
    return;
  }
  connection?.db.close();
  parentPort?.close();
});

// Opens the database file before the first task arrives. An error is ignored here, because the first task opens the
// file again and reports the error.
try {
  connection = open();
} catch {}

/**
 * Performs a task and returns the reply. When the database file cannot be opened, the reply contains the failure. In
 * this case, the writer thread does not exit, and the next task tries to open the file again.
 */
function perform(task: Task): Reply {
  try {
    connection ??= open();
  } catch (error) {
    const failure = failureOf(error);
    const outcomes = 'writes' in task ? unpackWrites(task.writes).map(() => failure) : [];
    return {
      isProbe: !('writes' in task),
      outcomes: packOutcomes(outcomes),
      isLocked: isLocked(error),
      findings: findingsOf(failure),
      commitMs: undefined,
    };
  }
  const { runner, probe } = connection;
  if (!('writes' in task)) {
    const findings = probe.run(task.tryWrite);
    return { isProbe: true, outcomes: [], isLocked: false, findings, commitMs: undefined };
  }
  const report = runner.run(unpackWrites(task.writes), task.lockTimeout);
  return { ...report, isProbe: false, outcomes: packOutcomes(report.outcomes) };
}

/**
 * Opens a connection for writing. An error of `openWriter` contains the path of the store in its message, and clients
 * must not see this path. Therefore this function throws the `cause` of the error, which is the error of SQLite.
 */
function connect(): Database.Database {
  try {
    return openWriter(files.main.path, LOCK_TIMEOUT);
  } catch (error) {
    throw (error as Error).cause ?? error;
  }
}

/**
 * Opens the database file and prepares the connection. Checks before opening that the path leads to the file of the
 * store, because SQLite could change or create another file at this path. Checks again after opening, because the file
 * could have been replaced in the meantime.
 */
function open(): Connection {
  assertSameFiles(files);
  const db = connect();
  try {
    assertSameFiles(files);
    const guard = new FileGuard(files);
    return { db, runner: new BatchRunner(db, guard), probe: new Probe(db, files, guard) };
  } catch (error) {
    db.close();
    throw error;
  }
}
