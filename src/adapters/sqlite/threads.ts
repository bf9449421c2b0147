/** The threads of a store, each with its own connection, so that writes and backups do not block the event loop. */

import { once } from 'node:events';
import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, Worker } from 'node:worker_threads';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';

/** In milliseconds. */
const EXIT_TIMEOUT = 10_000;

/** Throws an `AnimalStoreError` if a thread cannot start, for example with `node --permission`. */
export function startThread(name: 'writer-thread' | 'backup-thread', data: unknown): Worker {
  // The module has the same extension as this one: `.ts` in the sources, and `.js` when compiled.
  const module = new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);
  try {
    // `execArgv` is empty, because options of the process, such as --input-type, must not apply to the thread.
    const thread = new Worker(module, { workerData: data, execArgv: [] });
    // An error is ignored here, because the thread exits after it, and each caller handles the exit.
    return thread.on('error', () => {});
  } catch (error) {
    throw storageUnavailable(`a thread cannot start: ${(error as Error).message}`, error);
  }
}

/** Resolves when the thread has exited, or after a timeout if the disk does not respond. */
export async function endThread(thread: Worker): Promise<void> {
  if (thread.threadId === -1) return;
  thread.ref();
  thread.postMessage('close');
  await settled(once(thread, 'exit'));
  thread.unref();
}

/** Resolves when the work has settled, or after a timeout if the disk does not respond. */
export async function settled(work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), delay(EXIT_TIMEOUT, undefined, { ref: false })]);
}

/** Called in a thread, to receive messages and to respond to them. @param end called before the thread exits */
export function receive<Message>(end: () => void, respond?: (message: Message) => unknown): void {
  parentPort?.on('message', (message: Message | 'close') => {
    if (message !== 'close') return parentPort?.postMessage(respond?.(message));
    end();
    // Ends the thread, which nothing else keeps alive. `parentPort.close` would end it too, but does not exist in Deno.
    parentPort?.unref();
  });
}
