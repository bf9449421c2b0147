/**
 * The program of the writer thread. The class `Writer` of the main thread sends SQL statements to this thread. The
 * thread runs them in transactions, so that the event loop of the main thread does not wait for the disk.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { connectWriter } from '../database.ts';
import { isLocked } from '../errors.ts';
import { FileGuard } from '../health/file-guard.ts';
import { failureOf, findingsOf } from '../health/findings.ts';
import { type Connection, testStorage } from '../health/probe.ts';
import { assertSameFiles, type StoreFiles } from '../health/store-files.ts';
import { BatchRunner } from './batch.ts';
import { packOutcomes, type Reply, type Task, unpackWrites } from './codec.ts';

/** How long to wait for a lock of another process while the database file is opened, in milliseconds. */
const LOCK_TIMEOUT = 100;

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
    const findings = findingsOf(failure);
    if (!('writes' in task)) return { findings };
    const outcomes = unpackWrites(task.writes).map(() => failure);
    return { outcomes: packOutcomes(outcomes), isLocked: isLocked(error), findings };
  }
  if (!('writes' in task)) return { findings: testStorage(connection, task.tryWrite) };
  const report = connection.runner.commitBatch(unpackWrites(task.writes), task.lockTimeout);
  return { ...report, outcomes: packOutcomes(report.outcomes) };
}

/**
 * Opens the database file and prepares the connection. Checks before opening that the path leads to the file of the
 * store, because SQLite could change or create another file at this path. `FileGuard` checks again after opening,
 * because the file could have been replaced in the meantime.
 */
function open(): Connection {
  assertSameFiles(files);
  const db = connectWriter(files.main.path, LOCK_TIMEOUT);
  try {
    const guard = new FileGuard(files);
    return { db, guard, runner: new BatchRunner(db, guard) };
  } catch (error) {
    db.close();
    throw error;
  }
}
