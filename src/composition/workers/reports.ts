import type { Worker } from 'node:worker_threads';
import { type DestinationStream, type Logger, logObserver } from '../../adapters/log/index.ts';
import {
  addSnapshots,
  countersOf,
  type Metrics,
  type MetricsSnapshot,
  textOfThreads,
} from '../../adapters/metrics/index.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { waitAtMost } from '../../application/wait-at-most.ts';
import type { Config } from '../config.ts';
import type { Calls, Handlers } from './calls.ts';
import type { LogLines } from './thread-log.ts';

/** How long to wait for a busy thread, in milliseconds. While PostgreSQL hangs, the check of a thread takes 2 seconds. */
const METRICS_TIMEOUT = 1000;
const CHECK_TIMEOUT = 3000;

export interface Thread {
  readonly worker: Worker;
  readonly calls: Calls;
  isListening: boolean;
  /** The metrics when they were last requested, for a thread that is too busy to tell them. */
  metrics?: MetricsSnapshot;
}

/** What the main thread has of its own. The functions are called when the threads are running. */
export interface MainParts {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  readonly destination: DestinationStream;
  metrics(): Metrics;
  /** Rejects with a fault of the storage of the main thread. */
  check(): Promise<void>;
}

/** What the threads report, as one service: their log lines, their metrics, and the faults of their storages. */
export class Reports {
  /** Logs a fault of the storage once, and not once for each thread. */
  readonly observer: Observer = { onStorageState: (fault) => this.#storageState('main', fault) };
  readonly logUnderway: Int32Array<SharedArrayBuffer> = new Int32Array(new SharedArrayBuffer(4));
  readonly #main: MainParts;
  readonly #threads: readonly Thread[];
  readonly #faults = new Map<number | 'main', StorageFault>();
  #loggedReason: string | undefined;
  /** The counters of threads that have exited, because a counter that decreases would look like a restart. */
  #ended: Promise<readonly MetricsSnapshot[]> = Promise.resolve([]);

  /** @param threads the present ones, by their index */
  constructor(main: MainParts, threads: readonly Thread[]) {
    this.#main = main;
    this.#threads = threads;
  }

  /** Returns the functions that a thread calls. */
  handlersOf(index: number): Handlers {
    return {
      check: () => this.#check(),
      log: (lines: LogLines) => this.#writeLines(lines),
      metrics: () => this.#metricsText(),
      storageState: (fault?: StorageFault) =>
        this.#storageState(index, fault && new StorageFault(fault.reason, fault.message, fault)),
    };
  }

  /** Forgets a thread that has exited, except for its counters. */
  forget(index: number, { metrics }: Thread): void {
    this.#storageState(index, undefined);
    if (metrics === undefined) return;
    const counters = countersOf(metrics);
    this.#ended = this.#ended.then(async (ended) => [await addSnapshots([...ended, counters])]);
  }

  #writeLines({ lines, dropped }: LogLines): void {
    Atomics.sub(this.logUnderway, 0, lines.length);
    if (dropped > 0) this.#main.log.warn({ dropped }, 'log lines dropped');
    for (const line of lines.match(/[^\n]*\n/g) ?? []) this.#main.destination.write(line);
  }

  /** Rejects with a fault of any storage. A thread that is too busy to reply has its last known fault. */
  async #check(): Promise<void> {
    const asked = this.#askAll(CHECK_TIMEOUT, ({ calls }) => calls.call('check'));
    await Promise.all([this.#main.check(), asked]);
    for (const fault of this.#faults.values()) throw fault;
  }

  async #metricsText(): Promise<string> {
    await this.#askAll(METRICS_TIMEOUT, async (thread) => {
      thread.metrics = await thread.calls.call<MetricsSnapshot>('metrics');
    });
    const threads = this.#threads.map(({ metrics }) => metrics ?? []);
    return textOfThreads([await this.#main.metrics().snapshot(), ...(await this.#ended), ...threads]);
  }

  /** Rejects when `ask` rejects for a thread that still runs. */
  async #askAll(timeout: number, ask: (thread: Thread) => Promise<void>): Promise<void> {
    const faults: unknown[] = [];
    const listening = this.#threads.filter(({ isListening }) => isListening);
    const asking = listening.map((thread) =>
      ask(thread).catch((error) => {
        if (this.#threads.includes(thread)) faults.push(error);
      }),
    );
    const asked = Promise.all(asking).then(() => {});
    await waitAtMost(timeout, asked);
    if (faults.length > 0) throw faults[0];
  }

  #storageState(thread: number | 'main', fault: StorageFault | undefined): void {
    if (fault === undefined) this.#faults.delete(thread);
    else this.#faults.set(thread, fault);
    const [first] = this.#faults.values();
    if (first?.reason === this.#loggedReason) return;
    this.#loggedReason = first?.reason;
    logObserver(this.#main.log).onStorageState?.(first);
  }
}
