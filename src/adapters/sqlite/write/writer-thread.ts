/**
 * The program of the writer thread. The class `Writer` of the main thread sends SQL statements to this thread. The
 * thread runs them in transactions, so that the event loop of the main thread does not wait for the disk.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { openWriter } from '../database.ts';
import { isLocked } from '../errors.ts';
import { FileGuard } from '../health/file-guard.ts';
import { failureOf, findingsOf } from '../health/findings.ts';
import { testStorage } from '../health/probe.ts';
import type { StoreFiles } from '../health/store-files.ts';
import { BatchRunner } from './batch.ts';
import { packOutcomes, type Reply, type Task, unpackWrites } from './codec.ts';

const files = workerData as StoreFiles;
let runner: BatchRunner | undefined;

parentPort?.on('message', (task: Task | 'close') => {
  if (task !== 'close') {
    parentPort?.postMessage(perform(task));
    return;
  }
  runner?.db.close();
  // Nothing else keeps the thread alive. Deno has no `close`.
  parentPort?.unref();
});

// Opens the database file before the first task arrives. An error is ignored here, because the first task opens the
// file again and reports the error.
try {
  runner = open();
} catch {}

/**
 * Performs a task and returns the reply. When the database file cannot be opened, the reply contains the failure. In
 * this case, the writer thread does not exit, and the next task tries to open the file again.
 */
function perform(task: Task): Reply {
  try {
    runner ??= open();
  } catch (error) {
    const failure = failureOf(error);
    const findings = findingsOf(failure, 'write');
    if (!('writes' in task)) return { findings };
    return { outcomes: isLocked(error) ? [] : unpackWrites(task.writes).map(() => failure), findings };
  }
  if (!('writes' in task)) return { findings: testStorage(runner, task.tryWrite) };
  const report = runner.commitBatch(unpackWrites(task.writes), task.lockTimeout);
  return { ...report, outcomes: packOutcomes(report.outcomes) };
}

function open(): BatchRunner {
  const guard = new FileGuard(files);
  return new BatchRunner(openWriter(files), guard);
}
