import { AnimalStoreError } from '../../domain/errors.ts';

/** The maximum number of pending calls, and their maximum total size in bytes. */
const COUNT_LIMIT = 10_000;
const SIZE_LIMIT = 32 * 1024 * 1024;

/** A call that waits until it is sent to the database, and then until the response arrives. */
export interface Call<T, R> {
  readonly item: T;
  readonly size: number;
  readonly deadline: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** The calls that wait while other calls are in flight. A call that is not sent before its deadline is rejected. */
export class Pending<T, R> {
  readonly #timeout: number;
  #calls: Call<T, R>[] = [];
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param timeout how long a call may wait until it is sent, in milliseconds */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  get length(): number {
    return this.#calls.length;
  }

  /** Adds a call. Rejects with `overloaded` when too many calls are pending. */
  add(item: T, size: number): Promise<R> {
    if (this.#calls.length >= COUNT_LIMIT || this.#size + size > SIZE_LIMIT) {
      return Promise.reject(new AnimalStoreError('overloaded', 'too many calls wait for the database'));
    }
    return new Promise((resolve, reject) => {
      this.#size += size;
      this.#calls.push({ item, size, deadline: performance.now() + this.#timeout, resolve, reject });
      if (this.#timer === undefined) this.#startTimer();
    });
  }

  /** Removes and returns the oldest calls, at most `count`. */
  take(count: number): Call<T, R>[] {
    if (count >= this.#calls.length) {
      const all = this.#calls;
      this.#calls = [];
      this.#size = 0;
      return all;
    }
    const taken = this.#calls.splice(0, count);
    for (const { size } of taken) this.#size -= size;
    return taken;
  }

  /** Puts calls back at the front. */
  putBack(calls: readonly Call<T, R>[]): void {
    if (calls.length === 0) return;
    this.#calls.unshift(...calls);
    for (const { size } of calls) this.#size += size;
    if (this.#timer === undefined) this.#startTimer();
  }

  /** The timer continues to run when the oldest call leaves earlier, because this does no harm. */
  #startTimer(): void {
    const [oldest] = this.#calls;
    if (oldest === undefined) {
      this.#timer = undefined;
      return;
    }
    const left = Math.max(1, Math.ceil(oldest.deadline - performance.now()));
    this.#timer = setTimeout(() => {
      this.#rejectLate();
      this.#startTimer();
    }, left).unref();
  }

  #rejectLate(): void {
    const now = performance.now();
    const inTime = this.#calls.findIndex(({ deadline }) => deadline > now);
    for (const { reject } of this.take(inTime === -1 ? this.#calls.length : inTime)) {
      reject(
        new AnimalStoreError(
          'storage_unavailable',
          `the database was busy for ${this.#timeout / 1000} s: the call had no effect`,
        ),
      );
    }
  }
}
