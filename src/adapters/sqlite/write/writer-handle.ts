import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { atMost } from '../../../application/at-most.ts';
import type { StoreFiles } from '../health/store-files.ts';
import type { Reply, Task } from './codec.ts';

/**
 * How long the writer thread may take for a task, and how long it may take to exit, in milliseconds. When it takes
 * longer, the disk is considered not to respond.
 */
const TIMEOUT = 10_000;

/**
 * The URL of the module that the writer thread runs. The module has the same folder and the same extension as this
 * module: `.ts` in the sources, and `.js` when compiled.
 */
const THREAD = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

/** Bun prints a warning, with a stack, when the time of a thread is read. */
const HAS_THREAD_TIMES = process.versions['bun'] === undefined;

export interface WriterEvents {
  /** Called with each reply. Replies arrive in the order of the tasks. */
  onReply(reply: Reply): void;
  /** Called when the reply to the oldest task is late. The reply can still arrive later. */
  onTimeout(): void;
  /**
   * Called when the thread has exited without a call of `stop`. The tasks of the exited thread get no reply. The next
   * task starts another thread.
   */
  onLost(cause: unknown): void;
}

/** Starts the writer thread, sends tasks to it, and detects late replies and an unexpected exit. */
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

  /** Starts the writer thread unless it is running. */
  start(): Worker {
    this.#thread ??= this.#startThread();
    return this.#thread;
  }

  /** How long the thread was busy since its start, in seconds; 0 where the runtime does not measure it. */
  get busySeconds(): number {
    if (!HAS_THREAD_TIMES) return 0;
    return (this.#thread?.performance.eventLoopUtilization().active ?? 0) / 1000;
  }

  /** Sends a task. The thread keeps the event loop alive until its reply. An idle thread lets the process exit. */
  post(task: Task): void {
    const thread = this.start();
    thread.postMessage(task);
    this.#tasks += 1;
    if (this.#tasks > 1) return;
    thread.ref();
    this.#watch();
  }

  /**
   * Stops the writer thread. Resolves when the thread has exited, but after {@link TIMEOUT} milliseconds at the
   * latest, because the thread can be waiting for a system call that never returns.
   */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearTimeout(this.#timer);
    if (thread === undefined) return;
    thread.ref();
    const exit = new Promise<void>((resolve) => {
      thread.once('exit', () => resolve());
    });
    thread.postMessage('close');
    await atMost(TIMEOUT, exit);
    thread.unref();
  }

  #startThread(): Worker {
    // `execArgv` is empty, because options of the process, such as --input-type, must not apply to the writer thread.
    const thread = new Worker(THREAD, { workerData: this.#files, execArgv: [] });
    thread.on('message', (reply: Reply) => {
      if (this.#thread !== thread) return;
      this.#tasks -= 1;
      if (this.#tasks > 0) this.#watch();
      else thread.unref();
      this.#events.onReply(reply);
    });
    thread.on('error', (cause) => this.#lost(thread, cause));
    thread.on('exit', () => this.#lost(thread));
    // `unref` is called last, because adding a listener for messages makes the thread keep the event loop alive.
    thread.unref();
    return thread;
  }

  /**
   * Starts the timeout of the oldest task that has no reply. One timer serves all tasks, because refreshing a timer is
   * faster than creating a new one.
   */
  #watch(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else {
      this.#timer = setTimeout(() => {
        if (this.#tasks > 0) this.#events.onTimeout();
      }, TIMEOUT).unref();
    }
  }

  #lost(thread: Worker, cause?: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#tasks = 0;
    this.#events.onLost(cause);
  }
}
