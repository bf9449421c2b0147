import { extname } from 'node:path';
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads';
import { waitAtMost } from '../../../application/wait-at-most.ts';
import type { StoreFiles } from '../store-files.ts';
import { READY, type Reply, type Task, type WriterSharing } from './protocol.ts';

/** In milliseconds. When a task or the exit takes longer, the disk is considered not to respond. */
const REPLY_TIMEOUT = 10_000;

/** The module has the same extension as this one: `.ts` in the sources, and `.js` when compiled. */
const THREAD = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

/** Bun prints a warning, with a stack, when the time of a thread is read. */
const HAS_THREAD_TIMES = process.versions['bun'] === undefined;

type WriterLink = Pick<Worker, 'postMessage' | 'ref' | 'unref'>;

export interface WriterEvents {
  onReply(reply: Reply): void;
  /** The reply to the oldest task can still arrive later. */
  onTimeout(): void;
  /**
   * The thread has exited without a call of `stop`. Its tasks get no reply, and the next task starts another thread.
   * @param hasStarted whether it may have begun a task
   */
  onLost(cause: unknown, hasStarted: boolean): void;
}

/** The writer thread, or a port to the writer thread of another storage. */
export class WriterHandle {
  readonly #files: StoreFiles;
  readonly #sharing: WriterSharing | undefined;
  readonly #events: WriterEvents;
  #thread: WriterLink | undefined;
  #tasks = 0;
  #hasStarted = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: StoreFiles, sharing: WriterSharing | undefined, events: WriterEvents) {
    this.#files = files;
    this.#sharing = sharing;
    this.#events = events;
    sharing?.onOpen?.((port) => this.start().postMessage(port, [port]));
  }

  start(): WriterLink {
    const sendPort = this.#sharing?.sendPort;
    if (this.#thread !== undefined) return this.#thread;
    this.#thread = sendPort === undefined ? this.#startThread() : this.#openPort(sendPort);
    this.#hasStarted = false;
    // The start is the first task, because the SQLite driver aborts a process that exits while a thread loads it.
    this.#tasks = 1;
    this.#watch();
    return this.#thread;
  }

  get busySeconds(): number {
    if (!HAS_THREAD_TIMES) return 0;
    const thread = this.#thread;
    return thread instanceof Worker ? thread.performance.eventLoopUtilization().active / 1000 : 0;
  }

  /** The thread keeps the event loop alive until its reply. An idle thread lets the process exit. */
  post(task: Task): void {
    const thread = this.start();
    thread.postMessage(task);
    this.#tasks += 1;
    if (this.#tasks > 1) return;
    thread.ref();
    this.#watch();
  }

  /** Waits {@link REPLY_TIMEOUT} milliseconds at most, because the thread can be in a system call that never returns. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearTimeout(this.#timer);
    if (thread instanceof MessagePort) thread.close();
    if (!(thread instanceof Worker)) return;
    thread.ref();
    const exit = new Promise<void>((resolve) => {
      thread.once('exit', () => resolve());
    });
    thread.postMessage('close');
    await waitAtMost(REPLY_TIMEOUT, exit);
    thread.unref();
  }

  #startThread(): Worker {
    // `execArgv` is empty, because options of the process, such as --input-type, must not apply to the writer thread.
    const thread = new Worker(THREAD, { workerData: this.#files, execArgv: [] });
    thread.on('message', (reply: Reply | typeof READY) => this.#receive(thread, reply));
    thread.on('error', (cause) => this.#lost(thread, cause));
    thread.on('exit', () => this.#lost(thread));
    return thread;
  }

  /** The other end of the port is closed when the writer thread exits. */
  #openPort(sendPort: (port: MessagePort) => void): MessagePort {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (reply: Reply | typeof READY) => this.#receive(port1, reply));
    port1.on('close', () => this.#lost(port1));
    sendPort(port2);
    return port1;
  }

  #receive(thread: WriterLink, reply: Reply | typeof READY): void {
    if (this.#thread !== thread) return;
    this.#tasks -= 1;
    if (this.#tasks > 0) this.#watch();
    else thread.unref();
    if (reply === READY) this.#hasStarted = true;
    else this.#events.onReply(reply);
  }

  /** Starts the timeout of the oldest task. Refreshing one timer is faster than creating a timer for each task. */
  #watch(): void {
    this.#timer ??= setTimeout(() => {
      if (this.#tasks > 0) this.#events.onTimeout();
    }, REPLY_TIMEOUT).unref();
    this.#timer.refresh();
  }

  #lost(thread: WriterLink, cause?: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#tasks = 0;
    this.#events.onLost(cause, this.#hasStarted);
  }
}
