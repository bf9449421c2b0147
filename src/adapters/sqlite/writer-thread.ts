/** The thread that commits, so that the event loop never waits for the disk. */

import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { BatchRunner } from './batch.ts';
import { openWriter } from './database.ts';
import { isLocked } from './errors.ts';
import { FileGuard } from './file-guard.ts';
import { failureOf, findingsOf } from './findings.ts';
import { packOutcomes, type Reply, type Task, unpackUnits } from './message.ts';
import { Probe } from './probe.ts';
import { assertSameFiles, type StoreFiles } from './store-files.ts';

/** How long it waits for a lock while it opens the file and while it probes, in milliseconds. */
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

// The first batch must not wait for this. What is in its way now is reported with the first task.
try {
  connection = open();
} catch {}

/** A file that cannot be opened now may be there again for the next task, so the thread lives on. */
function perform(task: Task): Reply {
  try {
    connection ??= open();
  } catch (error) {
    const failure = failureOf(error);
    const outcomes = 'units' in task ? unpackUnits(task.units).map(() => failure) : [];
    return {
      isProbe: !('units' in task),
      outcomes: packOutcomes(outcomes),
      isLocked: isLocked(error),
      findings: findingsOf(failure),
    };
  }
  const { runner, probe } = connection;
  if (!('units' in task)) {
    return { isProbe: true, outcomes: [], isLocked: false, findings: probe.run(task.tryWrite) };
  }
  const report = runner.run(unpackUnits(task.units), task.lockTimeout);
  return { ...report, isProbe: false, outcomes: packOutcomes(report.outcomes) };
}

/** What is thrown goes to clients, who are told no path. */
function connect(): Database.Database {
  try {
    return openWriter(files.main.path, LOCK_TIMEOUT);
  } catch (error) {
    throw (error as Error).cause ?? error;
  }
}

/** Before and after: opening another file would change it, or make one. */
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
