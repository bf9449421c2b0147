import type { Server } from 'node:net';
import { extname } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import { forgetConnections, type HttpServer, newSharedLimits } from '../../adapters/http/api/index.ts';
import { lockPort } from '../../adapters/http/node/index.ts';
import { type DestinationStream, type Logger, openLog } from '../../adapters/log/index.ts';
import {
  addSnapshots,
  countersOf,
  type Metrics,
  type MetricsSnapshot,
  textOfThreads,
} from '../../adapters/metrics/index.ts';
import type { SqliteOptions } from '../../adapters/sqlite/index.ts';
import { atMost } from '../../application/at-most.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import type { Config } from '../config.ts';
import { Calls } from './calls.ts';
import type { ThreadData } from './thread-data.ts';
import type { LogLines } from './thread-log.ts';

/** The module has the same folder and the same extension as this module: `.ts` in the sources, and `.js` when compiled. */
const THREAD = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/**
 * How long the metrics, and the check of the storages, wait for a thread that is busy, in milliseconds. While PostgreSQL
 * hangs, the check of a thread takes 2 seconds.
 */
const METRICS_TIMEOUT = 1000;
const CHECK_TIMEOUT = 3000;

/** How long a thread may take to close its storage, in milliseconds. */
const CLOSE_TIMEOUT = 21_000;

/** When two threads exit within this time, in milliseconds, the process ends. */
const RESTART_INTERVAL = 60_000;

interface Thread {
  readonly worker: Worker;
  readonly calls: Calls;
  isListening: boolean;
  /** The metrics when they were last requested, for a thread that is too busy to tell them. */
  metrics?: MetricsSnapshot;
}

interface PoolOptions {
  readonly config: Config;
  readonly version: string;
  readonly maxConnections: number | undefined;
  readonly log: Logger;
  /** Returns the metrics of the main thread, which do not exist when the pool is created. */
  metrics(): Metrics;
}

/**
 * The threads that handle requests, as a server. All of them listen on the same port. The main thread handles no request:
 * it owns the writer thread of SQLite and the log, and starts a thread again that has exited.
 */
export class WorkerPool implements HttpServer {
  /** How the storage of the main thread shares the writer thread with the others. */
  readonly sharing: NonNullable<SqliteOptions['sharing']>;
  /** Rejects when threads have exited twice within {@link RESTART_INTERVAL}. */
  readonly failure: Promise<never>;
  isStopping = false;
  readonly #fail: (error: Error) => void;
  readonly #options: PoolOptions;
  readonly #limits: SharedArrayBuffer;
  readonly #logUnderway = new Int32Array(new SharedArrayBuffer(4));
  readonly #threads: Thread[] = [];
  /** The counters of threads that have exited, because a counter that decreases would look like a restart. */
  #ended: MetricsSnapshot[] = [];
  /** The faults of the storages of the threads. The main thread has the number -1. */
  readonly #faults = new Map<number, StorageFault>();
  #logStorageState: NonNullable<Observer['onStorageState']> = () => {};
  #loggedReason: string | undefined;
  #destination: DestinationStream | undefined;
  #attachPort: (port: MessagePort) => void = () => {};
  #lock: Server | undefined;
  #port = 0;
  #exitedAt = -Infinity;

  constructor(options: PoolOptions) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.failure = promise;
    this.#fail = reject;
    this.#options = options;
    this.#limits = newSharedLimits(options.config.workers);
    this.sharing = {
      threads: options.config.workers,
      commits: new Int32Array(new SharedArrayBuffer(4)),
      onOpen: (attachPort) => {
        this.#attachPort = attachPort;
      },
    };
  }

  /** Returns an observer that logs a change of the storage once, and not once for each thread. */
  observer({ onStorageState = () => {} }: Observer): Observer {
    this.#logStorageState = onStorageState;
    return { onStorageState: (fault) => this.#storageState(-1, fault) };
  }

  async listen(port: number): Promise<string> {
    this.#destination = await openLog();
    if (port !== 0) await this.#lockPort(port);
    for (let index = 0; index < this.sharing.threads; index++) this.#start(index);
    const [first, ...others] = this.#threads as [Thread, ...Thread[]];
    const url = await this.#listen(first, port);
    this.#port = Number(new URL(url).port);
    if (port === 0) await this.#lockPort(this.#port);
    await Promise.all(others.map((thread) => this.#listen(thread, this.#port)));
    return url;
  }

  async #listen(thread: Thread, port: number): Promise<string> {
    const url = await thread.calls.call<string>('listen', port);
    thread.isListening = true;
    return url;
  }

  /** Stops all threads at the same time. Resolves when they have exited. */
  async stop(timeout: number): Promise<void> {
    this.isStopping = true;
    const stopping = this.#threads.map(async ({ calls, worker }) => {
      const stopped = calls.call<void>('stop', timeout).catch(() => {});
      await atMost(timeout + CLOSE_TIMEOUT, stopped);
      await worker.terminate();
    });
    await Promise.all(stopping);
    this.#lock?.close();
  }

  /** The main thread has no connection of a client. */
  statistics(): ReturnType<HttpServer['statistics']> {
    return { connections: 0, requestsInFlight: 0, refused: {} };
  }

  async #lockPort(port: number): Promise<void> {
    this.#lock = await lockPort(port);
    if (this.#lock === undefined) {
      throw Object.assign(new Error('the port is in use'), { code: 'EADDRINUSE' });
    }
  }

  #start(index: number): void {
    const { config, version, maxConnections } = this.#options;
    const { database, ...rest } = config;
    const { scheme, location, source } = database;
    const server = { index, count: this.sharing.threads, memory: this.#limits };
    const workerData: ThreadData = {
      config: { ...rest, http: { ...rest.http, maxConnections } },
      database: { scheme, location, source },
      version,
      server,
      commits: this.sharing.commits,
      logUnderway: this.#logUnderway,
    };
    const worker = new Worker(THREAD, { workerData, name: `worker ${index + 1}` });
    const calls = new Calls(worker, {
      attachPort: (port: MessagePort) => this.#attachPort(port),
      check: () => this.#check(),
      log: (lines: LogLines) => this.#writeLines(lines),
      metrics: () => this.#metricsText(),
      storageState: (fault?: StorageFault) =>
        this.#storageState(index, fault && new StorageFault(fault.reason, fault.message, fault)),
    });
    const thread: Thread = { worker, calls, isListening: false };
    this.#threads[index] = thread;
    let cause: unknown;
    worker.once('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      calls.end(new Error(`a thread has exited: ${cause}`, { cause }));
      forgetConnections(server);
      if (this.isStopping) return;
      this.#storageState(index, undefined);
      if (thread.metrics !== undefined) this.#ended.push(countersOf(thread.metrics));
      if (thread.isListening) this.#restart(index, cause);
    });
  }

  /** Starts a thread again. When a thread exits for the second time within a minute, the process ends. */
  #restart(index: number, cause: unknown): void {
    const { log } = this.#options;
    const now = performance.now();
    const isSecond = now - this.#exitedAt < RESTART_INTERVAL;
    this.#exitedAt = now;
    if (isSecond) {
      this.#fail(new Error('threads have exited twice within a minute', { cause }));
      return;
    }
    log.error({ err: cause, worker: index + 1 }, 'a thread has exited and is started again');
    this.#start(index);
    this.#listen(this.#threads[index] as Thread, this.#port).then(
      () => log.info({ worker: index + 1 }, 'the thread listens again'),
      (error) => {
        if (!this.isStopping) this.#fail(error);
      },
    );
  }

  #writeLines({ lines, dropped }: LogLines): void {
    Atomics.sub(this.#logUnderway, 0, lines.length);
    if (dropped > 0) this.#options.log.warn({ dropped }, 'log lines dropped');
    for (const line of lines.match(/[^\n]*\n/g) ?? []) this.#destination?.write(line);
  }

  /** Rejects with a fault of the storage of any thread. A thread that is too busy to reply has its last known fault. */
  async #check(): Promise<void> {
    await this.#askAll(CHECK_TIMEOUT, async ({ calls }) => calls.call<void>('check'));
    for (const index of this.#threads.keys()) {
      const fault = this.#faults.get(index);
      if (fault !== undefined) throw fault;
    }
  }

  async #metricsText(): Promise<string> {
    await this.#askAll(METRICS_TIMEOUT, async (thread) => {
      thread.metrics = await thread.calls.call<MetricsSnapshot>('metrics');
    });
    if (this.#ended.length > 1) this.#ended = [await addSnapshots(this.#ended)];
    const own = await this.#options.metrics().snapshot();
    return textOfThreads([own, ...this.#ended, ...this.#threads.flatMap(({ metrics }) => metrics ?? [])]);
  }

  /** Rejects when `ask` rejects for a thread that still runs. Waits at most `timeout` milliseconds for a thread that is busy. */
  async #askAll(timeout: number, ask: (thread: Thread) => Promise<void>): Promise<void> {
    const faults: unknown[] = [];
    const asking = this.#threads.map((thread) =>
      ask(thread).catch((error) => {
        if (this.#threads.includes(thread) && thread.isListening) faults.push(error);
      }),
    );
    const asked = Promise.all(asking).then(() => {});
    await atMost(timeout, asked);
    if (faults.length > 0) throw faults[0];
  }

  #storageState(index: number, fault: StorageFault | undefined): void {
    if (fault === undefined) this.#faults.delete(index);
    else this.#faults.set(index, fault);
    const [first] = this.#faults.values();
    if (first?.reason === this.#loggedReason) return;
    this.#loggedReason = first?.reason;
    this.#logStorageState(first);
  }
}
