import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { Outcome, Statement, Unit, Value, Written } from './batch.ts';
import { packUnits, unpackOutcomes } from './message.ts';

/** How many units may wait for the disk. At 255 characters a name, that is some 10 MB. */
const QUEUE_LIMIT = 10_000;

/** How many units share one transaction at most, so that no answer waits for a very long one. */
const BATCH_LIMIT = 1_000;

/**
 * The share of a commit's time that the next one waits for the units of callers who were just answered, and the bounds
 * of that wait in milliseconds: what is shorter is not worth a timer.
 */
const GATHER_SHARE = 1 / 4;
const GATHER_MIN = 1;
const GATHER_MAX = 50;

/** Beside this file, compiled or not. */
const THREAD = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

interface Waiting {
  readonly unit: Unit;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: AnimalStoreError) => void;
}

/**
 * Group commit. Units that arrive while the thread commits wait, and share the next transaction and its one fsync;
 * each is answered after the commit that holds it. A thread that died is started again by the next unit.
 */
export class Writer {
  readonly #path: string;
  readonly #onCommit: () => void;
  #waiting: Waiting[] = [];
  #committing: Waiting[] = [];
  #scheduled = false;
  #startedAt = 0;
  #gathering: { readonly enough: number; readonly timer: NodeJS.Timeout } | undefined;
  #thread: Worker | undefined;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  /** @param onCommit called before the callers learn of a commit */
  constructor(path: string, onCommit: () => void) {
    this.#path = path;
    this.#onCommit = onCommit;
  }

  /** Starts the thread before the first unit comes, which would have to wait for it. */
  start(): void {
    this.#thread ??= this.#startThread();
  }

  /** Runs statements that take effect together or not at all. Resolves, once durable, with what the last one did. */
  run(...unit: Statement[]): Promise<Written> {
    if (this.#closed !== undefined) return Promise.reject(unavailable('the storage is closed'));
    if (this.#waiting.length >= QUEUE_LIMIT) {
      return Promise.reject(new AnimalStoreError('overloaded', 'too many writes are waiting for the disk'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit, resolve, reject });
      if (this.#gathering !== undefined) {
        if (this.#waiting.length >= this.#gathering.enough) this.#commitNext();
      } else if (!this.#scheduled && this.#committing.length === 0) {
        this.#scheduled = true;
        setImmediate(() => this.#commitNext());
      }
    });
  }

  /** Commits what was accepted, then ends the thread. */
  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => this.#stopThread());
    return this.#closed;
  }

  /**
   * An idle thread keeps no process alive; one that commits does. A thread that dies can have brought this on before
   * its scheduled turn, which then finds a commit under way.
   */
  #commitNext(): void {
    this.#scheduled = false;
    clearTimeout(this.#gathering?.timer);
    this.#gathering = undefined;
    if (this.#committing.length > 0) return;
    if (this.#waiting.length === 0) {
      this.#thread?.unref();
      this.#whenIdle?.();
      return;
    }
    this.#committing = this.#waiting.splice(0, BATCH_LIMIT);
    this.#thread ??= this.#startThread();
    this.#thread.ref();
    this.#startedAt = performance.now();
    this.#thread.postMessage(packUnits(this.#committing.map(({ unit }) => unit)));
  }

  #startThread(): Worker {
    // What the program was started with, such as --input-type, is not for this thread.
    const thread = new Worker(THREAD, { workerData: this.#path, execArgv: [] });
    thread.on('message', (outcomes: Value[]) => this.#settle(unpackOutcomes(outcomes)));
    thread.on('error', (cause) => this.#lost(thread, cause));
    thread.on('exit', () => this.#lost(thread));
    // After the listeners: one for messages takes hold of the process again.
    thread.unref();
    return thread;
  }

  #settle(outcomes: readonly Outcome[]): void {
    const committed = this.#committing;
    this.#committing = [];
    this.#onCommit();
    for (const [index, { resolve, reject }] of committed.entries()) {
      const outcome = outcomes[index] as Outcome;
      if ('code' in outcome) {
        reject(new AnimalStoreError(outcome.code, outcome.message, { cause: outcome.detail }));
      } else {
        resolve(outcome);
      }
    }
    this.#gather(committed.length);
  }

  /**
   * On a slow disk callers would fall into two halves, each waiting while the other commits. So those who wait give
   * the others a moment to come back, until as many are there as can be expected: then all share one commit.
   */
  #gather(answered: number): void {
    const waiting = this.#waiting.length;
    const enough = Math.min(waiting + answered, BATCH_LIMIT);
    const time = Math.min((performance.now() - this.#startedAt) * GATHER_SHARE, GATHER_MAX);
    if (waiting === 0 || waiting >= enough || time < GATHER_MIN) this.#commitNext();
    else this.#gathering = { enough, timer: setTimeout(() => this.#commitNext(), time) };
  }

  #lost(thread: Worker, cause?: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const lost = this.#committing;
    this.#committing = [];
    const error = unavailable('the thread that writes has ended: whether this was stored is unknown', cause);
    for (const { reject } of lost) reject(error);
    this.#commitNext();
  }

  #drain(): Promise<void> {
    if (this.#committing.length + this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  async #stopThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined) return;
    thread.ref();
    await new Promise((resolve) => {
      thread.once('exit', resolve);
      thread.postMessage('close');
    });
  }
}

function unavailable(message: string, cause?: unknown): AnimalStoreError {
  return new AnimalStoreError('storage_unavailable', message, { cause });
}
