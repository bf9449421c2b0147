import type { AnimalStoreError } from '../../domain/errors.ts';
import { closedError } from './errors.ts';
import type { Gathering } from './gathering.ts';
import { type Call, Pending } from './pending.ts';

/** The maximum number of calls in one flight. */
const LIMIT = 1000;

type Send<T, R> = (calls: readonly Call<T, R>[]) => Promise<void>;

/**
 * Sends calls to the database in flights: calls that arrive during a flight wait, and are sent together in the next one.
 * After a flight with one call, the next call is sent at once. After a flight with several calls, the next flight begins
 * at the end of the turn of the event loop, because more calls are likely to follow.
 */
export class Flights<T, R> {
  readonly #send: Send<T, R>;
  readonly #gathering: Gathering | undefined;
  readonly #pending: Pending<T, R>;
  #lastCount = 0;
  #isRunning = false;
  #isClosed = false;
  #whenIdle: (() => void) | undefined;

  /**
   * @param timeout how long a call may wait until it is sent, in milliseconds
   * @param gathering makes a flight wait for calls that are likely to follow; by default flights do not wait
   */
  constructor(send: Send<T, R>, timeout: number, gathering?: Gathering) {
    this.#send = send;
    this.#pending = new Pending(timeout);
    this.#gathering = gathering;
  }

  /** The number of calls that wait for the next flight. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** Adds a call. Rejects with `overloaded` when too many calls wait. */
  add(item: T, size: number): Promise<R> {
    if (this.#isClosed) return Promise.reject(closedError());
    const result = this.#pending.add(item, size);
    this.#gathering?.added(this.#pending.length);
    if (!this.#isRunning) {
      this.#isRunning = true;
      if (this.#lastCount <= 1) void this.#run();
      else setImmediate(() => void this.#run());
    }
    return result;
  }

  /** Adds the calls of a flight again, in front of all other calls. */
  putBack(calls: readonly Call<T, R>[]): void {
    this.#pending.putBack(calls);
  }

  /** Refuses further calls. Resolves when no flight is running, and no call is waiting. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#gathering?.end();
    if (!this.#isRunning) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  /** Rejects the calls that wait. */
  refuse(error: AnimalStoreError): void {
    for (const { reject } of this.#pending.take(this.#pending.length)) reject(error);
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      const calls = this.#pending.take(LIMIT);
      const startedAt = performance.now();
      try {
        await this.#send(calls);
      } catch (error) {
        // A defect of this program. A call that has a result is not changed by this.
        for (const { reject } of calls) reject(error);
      }
      this.#lastCount = calls.length;
      const last = { count: calls.length, ms: performance.now() - startedAt };
      const gathered = this.#gathering?.wait(last, this.#pending.length, LIMIT);
      if (gathered !== undefined) await gathered;
    }
    this.#isRunning = false;
    this.#whenIdle?.();
  }
}
