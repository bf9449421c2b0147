/**
 * The writer thread runs the SQL of other threads, so that no event loop waits for the disk. Batches of several threads
 * that wait at the same time share a transaction.
 */

import { MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openWriter } from '../database.ts';
import { isLocked } from '../errors.ts';
import { FileGuard } from '../health/file-guard.ts';
import { type Failure, type Findings, failureOf, findingsOf } from '../health/findings.ts';
import { testStorage } from '../health/probe.ts';
import { BatchRunner, type Report } from './batch.ts';
import { type BatchTask, READY, type Reply, type Task, type Write } from './protocol.ts';
import type { WriterData } from './writer-handle.ts';

const { files, commits } = workerData as WriterData;
let runner: BatchRunner | undefined;
/** After a failed fsync, this thread refuses the writes of each `Writer` that does not know of the failure yet. */
let syncFailure: Failure | undefined;
const ports = new Set<MessagePort>();
/** How long the result of a test is used for the other threads, which all ask for one at the same time, in milliseconds. */
const PROBE_TIME = 250;
let lastProbe: { readonly reply: Reply; readonly tryWrite: boolean; readonly endedAt: number } | undefined;

// After an error, the first task opens the file again, and reports the error.
try {
  runner = open();
} catch {}
if (parentPort !== null) addPort(parentPort);

function addPort(port: MessagePort): void {
  ports.add(port);
  port.postMessage(READY);
  port.on('close', () => ports.delete(port));
  port.on('message', (message: Message) => {
    const batches = new Map<MessagePort, BatchTask>();
    receive(message, port, batches);
    for (const other of ports) {
      const waiting = other === port ? undefined : receiveMessageOnPort(other);
      if (waiting !== undefined) receive(waiting.message as Message, other, batches);
    }
    if (batches.size > 0) commitBatches(batches);
  });
}

type Message = Task | MessagePort | 'close';

function receive(message: Message, port: MessagePort, batches: Map<MessagePort, BatchTask>): void {
  if (message === 'close') {
    runner?.db.close();
    // Nothing else keeps the thread alive. Deno has no `close`.
    for (const each of ports) each.unref();
  } else if (message instanceof MessagePort) addPort(message);
  else if ('writes' in message) batches.set(port, message);
  else port.postMessage(probe(message.tryWrite));
}

function probe(tryWrite: boolean): Reply {
  const last = ports.size > 1 ? lastProbe : undefined;
  const isNew = last !== undefined && performance.now() - last.endedAt < PROBE_TIME;
  if (isNew && (last.tryWrite || !tryWrite)) return last.reply;
  const reply = { findings: probed(tryWrite) };
  lastProbe = { reply, tryWrite, endedAt: performance.now() };
  return reply;
}

function probed(tryWrite: boolean): Findings {
  try {
    runner ??= open();
  } catch (error) {
    return findingsOf(failureOf(error), 'write');
  }
  return testStorage(runner, tryWrite);
}

/** Commits all batches in one transaction. Only the first reply has its size, so that it is counted once. */
function commitBatches(batches: ReadonlyMap<MessagePort, BatchTask>): void {
  lastProbe = undefined;
  const tasks = [...batches.values()];
  const lockTimeout = Math.min(...tasks.map((task) => task.lockTimeout));
  const { outcomes, commitMs, findings } = commit(
    tasks.flatMap(({ writes }) => writes),
    lockTimeout,
  );
  if (findings.write?.reason === 'sync_failed') syncFailure = findings.write;
  if (commits !== undefined) Atomics.add(commits, 0, 1);
  const stored = outcomes.reduce((count, outcome) => ('changes' in outcome ? count + 1 : count), 0);
  let transaction = commitMs === undefined ? undefined : { writes: stored, ms: commitMs };
  let start = 0;
  for (const [port, { writes }] of batches) {
    const end = start + writes.length;
    const reply: Reply = { outcomes: outcomes.slice(start, end), findings, transaction };
    port.postMessage(reply);
    transaction = undefined;
    start = end;
  }
}

/** After a failure to open the database file, the thread does not exit, and the next task tries again. */
function commit(writes: readonly Write[], lockTimeout: number): Report {
  if (syncFailure !== undefined) return failed(writes, syncFailure);
  try {
    runner ??= open();
  } catch (error) {
    return isLocked(error) ? { outcomes: [], findings: {} } : failed(writes, failureOf(error));
  }
  return runner.commitBatch(writes, lockTimeout);
}

function failed(writes: readonly Write[], failure: Failure): Report {
  return { outcomes: writes.map(() => failure), findings: findingsOf(failure, 'write') };
}

function open(): BatchRunner {
  const guard = new FileGuard(files);
  return new BatchRunner(openWriter(files), guard);
}
