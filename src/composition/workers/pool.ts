import type { Server } from 'node:net';
import { extname } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import {
  forgetServer,
  type HttpServer,
  newSharedLimits,
  type ServerStatistics,
} from '../../adapters/http/api/index.ts';
import { lockPort, refuseUsedPort } from '../../adapters/http/node/index.ts';
import type { SqliteOptions } from '../../adapters/sqlite/index.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { waitAtMost } from '../../application/wait-at-most.ts';
import { Calls } from './calls.ts';
import { type MainParts, Reports, type Thread } from './reports.ts';
import type { ThreadData } from './thread-data.ts';

/** The module has the same folder and the same extension as this module: `.ts` in the sources, and `.js` when compiled. */
const THREAD = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/** How long a thread may take to close its storage, in milliseconds. */
const CLOSE_TIMEOUT = 21_000;

/** When two threads exit within this time, in milliseconds, the process ends. */
const RESTART_INTERVAL = 60_000;

/**
 * The threads that handle requests, as a server. All of them listen on the same port. The main thread handles no request:
 * it owns the writer thread of SQLite and the log, and starts a thread again that has exited.
 */
export class WorkerPool implements HttpServer {
  /** How the storage of the main thread shares the writer thread with the others. */
  readonly sharing: NonNullable<SqliteOptions['sharing']>;
  readonly observer: Observer;
  readonly #failure = Promise.withResolvers<never>();
  /** Rejects when threads have exited twice within {@link RESTART_INTERVAL}. */
  readonly failure: Promise<never> = this.#failure.promise;
  isStopping = false;
  readonly #main: MainParts;
  readonly #limits: SharedArrayBuffer;
  readonly #threads: Thread[] = [];
  readonly #reports: Reports;
  #attachPort: (port: MessagePort) => void = () => {};
  #lock: Server | undefined;
  #port = 0;
  /** The number of threads that were started again because they had exited. */
  restarts = 0;
  #exitedAt = -Infinity;

  constructor(main: MainParts) {
    this.failure.catch(() => {});
    this.#main = main;
    this.#limits = newSharedLimits(main.config.workers);
    this.#reports = new Reports(main, this.#threads);
    this.observer = this.#reports.observer;
    this.sharing = {
      threads: main.config.workers,
      onOpen: (attachPort) => {
        this.#attachPort = attachPort;
      },
    };
  }

  async listen(port: number, host: string): Promise<string> {
    if (port !== 0) {
      await this.#lockPort(port, host);
      await refuseUsedPort(port, host);
    }
    for (let index = 0; index < this.sharing.threads; index++) this.#start(index);
    const [first, ...others] = this.#threads as [Thread, ...Thread[]];
    const url = await this.#listen(first, port);
    this.#port = Number(new URL(url).port);
    if (port === 0) await this.#lockPort(this.#port, host);
    await Promise.all(others.map((thread) => this.#listen(thread, this.#port)));
    return url;
  }

  /** Stops all threads at the same time. Resolves when they have exited. */
  async stop(timeout: number): Promise<void> {
    this.isStopping = true;
    const stopping = this.#threads.map(async ({ calls, worker }) => {
      const stopped = calls.call<void>('stop', timeout).catch(() => {});
      await waitAtMost(timeout + CLOSE_TIMEOUT, stopped);
      await worker.terminate();
    });
    await Promise.all(stopping);
    this.#lock?.close();
  }

  statistics(): ServerStatistics {
    return { connections: 0, requestsInFlight: 0, refused: {} };
  }

  async #lockPort(port: number, host: string): Promise<void> {
    this.#lock = await lockPort(port, host);
    if (this.#lock === undefined) throw Object.assign(new Error('port in use'), { code: 'EADDRINUSE' });
  }

  #start(index: number): Thread {
    const { config, version } = this.#main;
    const { scheme, location, source } = config.database;
    const server = { index, count: this.sharing.threads, memory: this.#limits };
    const workerData: ThreadData = {
      config: { ...config, database: { scheme, location, source } },
      version,
      server,
      logUnderway: this.#reports.logUnderway,
    };
    const worker = new Worker(THREAD, { workerData, name: `worker ${index + 1}` });
    const calls = new Calls(worker, {
      ...this.#reports.handlersOf(index),
      attachPort: (port: MessagePort) => this.#attachPort(port),
    });
    const thread: Thread = { worker, calls, isListening: false };
    this.#threads[index] = thread;
    let cause: unknown;
    worker.once('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      calls.end(new Error(`a thread has exited: ${cause}`, { cause }));
      forgetServer(server);
      if (this.isStopping) return;
      this.#reports.forget(index, thread);
      if (thread.isListening) this.#restart(index, cause);
    });
    return thread;
  }

  async #listen(thread: Thread, port: number): Promise<string> {
    const url = await thread.calls.call<string>('listen', port);
    thread.isListening = true;
    return url;
  }

  /** Starts a thread again. When a thread exits for the second time within a minute, the process ends. */
  #restart(index: number, cause: unknown): void {
    const exitedBefore = this.#exitedAt;
    this.#exitedAt = performance.now();
    if (this.#exitedAt - exitedBefore < RESTART_INTERVAL) {
      this.#failure.reject(new Error('threads have exited twice within a minute', { cause }));
      return;
    }
    this.restarts += 1;
    this.#main.log.error({ err: cause, worker: index + 1 }, 'a thread has exited and is started again');
    this.#listen(this.#start(index), this.#port).then(
      () => this.#main.log.info({ worker: index + 1 }, 'the thread listens again'),
      (error) => {
        if (!this.isStopping) this.#failure.reject(error);
      },
    );
  }
}
