import { AnimalStoreError } from '../../domain/errors.ts';

const LENGTH_LIMIT = 10_000;

/** A call that waits until it is sent to the storage, and then for its result. */
export interface QueuedCall<T, R> {
  readonly item: T;
  /** The latest time at which the call may be sent, as a value of `performance.now()`. */
  readonly deadline: number;
  /** Gives the caller its result. */
  resolve(result: R): void;
  /** Gives the caller an error. */
  reject(error: unknown): void;
}

/** The limits of a {@link CallQueue}, and the messages of its errors. */
export interface CallQueueOptions {
  /** How long a call may stay in the queue, in milliseconds. */
  readonly timeout: number;
  /** The message of the error `overloaded`, for a call that finds a full queue. */
  readonly full: string;
  /** The message of the error `storage_unavailable`, for a call that is still queued at its deadline. */
  readonly late: string;
  readonly lengthLimit?: number;
  /** Called when calls were rejected at their deadline. */
  onLate?(): void;
}

/** Calls in the order of their arrival. A call that is still queued at its deadline is rejected, and never sent. */
export class CallQueue<T, R> {
  readonly #options: CallQueueOptions;
  #calls: QueuedCall<T, R>[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#calls.length;
  }

  /** Queues a call. When the queue is full, the promise rejects at once with `overloaded`. */
  addCall(item: T): Promise<R> {
    const { timeout, full, lengthLimit = LENGTH_LIMIT } = this.#options;
    if (this.#calls.length >= lengthLimit) {
      return Promise.reject(new AnimalStoreError('overloaded', full));
    }
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + timeout;
      this.#calls.push({ item, deadline, resolve, reject });
      this.#watchDeadlines();
    });
  }

  /** Removes and returns the oldest calls that are not past their deadline, at most `count`. */
  takeCalls(count: number): QueuedCall<T, R>[] {
    this.#rejectLate();
    return this.#calls.splice(0, count);
  }

  /** Puts calls back at the front of the queue, so that they are sent next. */
  putBackCalls(calls: readonly QueuedCall<T, R>[]): void {
    this.#calls.unshift(...calls);
    this.#rejectLate();
    this.#watchDeadlines();
  }

  /** Rejects all calls, which leave the queue. */
  rejectCalls(error: AnimalStoreError): void {
    for (const { reject } of this.#calls.splice(0)) reject(error);
  }

  #rejectLate(): void {
    const now = performance.now();
    const inTime = this.#calls.findIndex(({ deadline }) => deadline > now);
    const late = this.#calls.splice(0, inTime === -1 ? this.#calls.length : inTime);
    if (late.length === 0) return;
    const error = new AnimalStoreError('storage_unavailable', this.#options.late);
    for (const { reject } of late) reject(error);
    this.#options.onLate?.();
  }

  /** Starts a timer for the deadline of the oldest call. It continues to run when this call leaves the queue earlier. */
  #watchDeadlines(): void {
    const [oldest] = this.#calls;
    if (this.#timer !== undefined || oldest === undefined) return;
    const left = Math.max(1, Math.ceil(oldest.deadline - performance.now()));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#rejectLate();
      this.#watchDeadlines();
    }, left);
    // The calls that wait keep the process alive, not their deadline. Only timers of Node.js have `unref`.
    if (typeof this.#timer === 'object') this.#timer.unref();
  }
}
