import { extname } from 'node:path';
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads';
import { atMost } from '../../../application/at-most.ts';
import type { StoreFiles } from '../health/store-files.ts';
import { READY, type Reply, type Task } from './codec.ts';
import type { WriterSharing } from './writer-sharing.ts';

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

/** The writer thread, or a port to it. */
type WriterLink = Pick<Worker, 'postMessage' | 'ref' | 'unref'>;

/** The data of the writer thread. */
export interface WriterData {
  readonly files: StoreFiles;
  /** {@link WriterSharing.commits} */
  readonly commits: Int32Array<SharedArrayBuffer> | undefined;
}

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

/**
 * Starts the writer thread, or opens a port to the writer thread of another storage. Sends tasks to it, and detects late
 * replies and an unexpected exit.
 */
export class WriterHandle {
  readonly #files: StoreFiles;
  readonly #sharing: WriterSharing | undefined;
  readonly #events: WriterEvents;
  #thread: WriterLink | undefined;
  #tasks = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: StoreFiles, sharing: WriterSharing | undefined, events: WriterEvents) {
    this.#files = files;
    this.#sharing = sharing;
    this.#events = events;
    sharing?.onOpen?.((port) => this.start().postMessage(port, [port]));
  }

  /** Starts the writer thread, or opens the port to it, unless this was done before. */
  start(): WriterLink {
    this.#thread ??= this.#startThread();
    return this.#thread;
  }

  /** How long the thread was busy since its start, in seconds; 0 where the runtime does not measure it. */
  get busySeconds(): number {
    if (!HAS_THREAD_TIMES) return 0;
    const thread = this.#thread;
    return thread instanceof Worker ? thread.performance.eventLoopUtilization().active / 1000 : 0;
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
    if (thread instanceof MessagePort) thread.close();
    if (!(thread instanceof Worker)) return;
    thread.ref();
    const exit = new Promise<void>((resolve) => {
      thread.once('exit', () => resolve());
    });
    thread.postMessage('close');
    await atMost(TIMEOUT, exit);
    thread.unref();
  }

  #startThread(): WriterLink {
    const sendPort = this.#sharing?.sendPort;
    return sendPort === undefined ? this.#startWorker() : this.#openPort(sendPort);
  }

  #startWorker(): Worker {
    const workerData: WriterData = { files: this.#files, commits: this.#sharing?.commits };
    // `execArgv` is empty, because options of the process, such as --input-type, must not apply to the writer thread.
    const thread = new Worker(THREAD, { workerData, execArgv: [] });
    thread.on('message', (reply: Reply | typeof READY) => this.#receive(thread, reply));
    thread.on('error', (cause) => this.#lost(thread, cause));
    thread.on('exit', () => this.#lost(thread));
    // The start is the first task, so the thread keeps the event loop alive until it is ready. If the process exited
    // while the thread loads the SQLite driver, the driver would abort the process.
    this.#tasks = 1;
    this.#watch();
    return thread;
  }

  /** Opens a port, whose other end is closed when the writer thread exits. */
  #openPort(sendPort: (port: MessagePort) => void): MessagePort {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (reply: Reply) => this.#receive(port1, reply));
    port1.on('close', () => this.#lost(port1));
    // `unref` is called last, because adding a listener for messages makes the port keep the event loop alive.
    port1.unref();
    sendPort(port2);
    return port1;
  }

  #receive(thread: WriterLink, reply: Reply | typeof READY): void {
    if (this.#thread !== thread) return;
    this.#tasks -= 1;
    if (this.#tasks > 0) this.#watch();
    else thread.unref();
    if (reply !== READY) this.#events.onReply(reply);
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

  #lost(thread: WriterLink, cause?: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#tasks = 0;
    this.#events.onLost(cause);
  }
}
