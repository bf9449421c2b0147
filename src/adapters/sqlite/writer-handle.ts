import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Reply, Task } from './message.ts';
import type { StoreFiles } from './store-files.ts';

/** How long a task may take until the disk counts as not responding, and how long the thread may take to exit, in milliseconds. */
const TASK_TIMEOUT = 10_000;
const EXIT_TIMEOUT = 10_000;

/** Beside this file, compiled or not. */
const THREAD = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

export interface WriterEvents {
  /** Replies come in the order of the tasks. */
  onReply(reply: Reply): void;
  /** The oldest task has no reply in time. It may still come. */
  onTimeout(): void;
  /** The thread has died with tasks that get no reply. The next task starts another thread. */
  onLost(cause: unknown): void;
}

/** The writer thread as the event loop sees it. */
export class WriterHandle {
  readonly #files: StoreFiles;
  readonly #events: WriterEvents;
  #thread: Worker | undefined;
  #tasks = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: StoreFiles, events: WriterEvents) {
    this.#files = files;
    this.#events = events;
  }

  start(): Worker {
    this.#thread ??= this.#startThread();
    return this.#thread;
  }

  post(task: Task): void {
    this.start().postMessage(task);
    this.#tasks += 1;
    if (this.#tasks === 1) this.#watch();
  }

  /** Whether the thread keeps the event loop alive. An idle one does not. */
  keepAlive(isNeeded: boolean): void {
    if (isNeeded) this.start().ref();
    else this.#thread?.unref();
  }

  /** Resolves when the thread has exited, or does not do so in time: a call into a disk that hangs cannot be ended. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearTimeout(this.#timer);
    if (thread === undefined) return;
    thread.ref();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, EXIT_TIMEOUT);
      thread.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      thread.postMessage('close');
    });
    thread.unref();
  }

  #startThread(): Worker {
    // What the program was started with, such as --input-type, is not for this thread.
    const thread = new Worker(THREAD, { workerData: this.#files, execArgv: [] });
    thread.on('message', (reply: Reply) => {
      if (this.#thread !== thread) return;
      this.#tasks -= 1;
      if (this.#tasks > 0) this.#watch();
      this.#events.onReply(reply);
    });
    thread.on('error', (cause) => this.#lost(thread, cause));
    thread.on('exit', () => this.#lost(thread));
    // After the listeners: one for messages takes hold of the process again.
    thread.unref();
    return thread;
  }

  /** One timer, which is set anew for the oldest task: creating timers would cost more. */
  #watch(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else {
      this.#timer = setTimeout(() => {
        if (this.#tasks > 0) this.#events.onTimeout();
      }, TASK_TIMEOUT).unref();
    }
  }

  #lost(thread: Worker, cause?: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#tasks = 0;
    this.#events.onLost(cause);
  }
}
