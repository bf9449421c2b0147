/**
 * The writer thread runs the SQL of other threads, so that no event loop waits for the disk. Batches of several threads
 * that wait at the same time share a transaction.
 */

import { MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openWriter } from '../database.ts';
import { isLocked, plainError } from '../errors.ts';
import { CommitCheck, type StoreFiles } from '../store-files.ts';
import { allFailed, BatchRunner } from './batch.ts';
import type { BatchReply, BatchTask, ProbeReply, Task, Write } from './protocol.ts';
import { READY } from './protocol.ts';

const files = workerData as StoreFiles;
const ports = new Set<MessagePort>();
let runner: BatchRunner | undefined;

// After an error, the first task opens the file again, and reports the error.
try {
  runner = open();
} catch {}
if (parentPort !== null) addPort(parentPort);

function open(): BatchRunner {
  const check = new CommitCheck(files);
  return new BatchRunner(openWriter(files), check);
}

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
    runner?.close();
    // Nothing else keeps the thread alive. Deno has no `close`.
    for (const each of ports) each.unref();
  } else if (message instanceof MessagePort) addPort(message);
  else if ('writes' in message) batches.set(port, message);
  else port.postMessage(probe(message.tryWrite));
}

function probe(tryWrite: boolean): ProbeReply {
  try {
    runner ??= open();
  } catch (error) {
    return isLocked(error) ? { testWrites: [] } : { failure: plainError(error), testWrites: [] };
  }
  return runner.probe(tryWrite);
}

/** Commits all batches in one transaction. */
function commitBatches(batches: ReadonlyMap<MessagePort, BatchTask>): void {
  const tasks = [...batches.values()];
  const lockTimeout = Math.min(...tasks.map((task) => task.lockTimeout));
  const { outcomes, transaction } = commit(
    tasks.flatMap(({ writes }) => writes),
    lockTimeout,
  );
  let start = 0;
  for (const [port, { writes }] of batches) {
    const end = start + writes.length;
    const reply: BatchReply = {
      outcomes: outcomes.slice(start, end),
      // Only one reply has the transaction, so that it is counted once.
      transaction: start === 0 ? transaction : undefined,
    };
    port.postMessage(reply);
    start = end;
  }
}

/** After a failure to open the database file, the thread does not exit, and the next task tries again. */
function commit(writes: readonly Write[], lockTimeout: number): BatchReply {
  try {
    runner ??= open();
  } catch (error) {
    return isLocked(error) ? { outcomes: [] } : allFailed(writes, plainError(error));
  }
  return runner.commitBatch(writes, lockTimeout);
}
