import { AnimalStoreError } from '../../../domain/errors.ts';
import { unavailable } from '../errors.ts';
import type { Write, Written } from './statement.ts';

/** The maximum number of queued writes, and their maximum total size in bytes, which is estimated from their values. */
const QUEUE_LIMIT = 10_000;
const QUEUE_SIZE_LIMIT = 32 * 1024 * 1024;

/** How long a write may stay in the queue, in milliseconds. */
const QUEUE_TIMEOUT = 5000;

const BYTES_PER_WRITE = 400;
const BYTES_PER_CODE_UNIT = 2;

/** A write that waits for its commit. */
export interface QueuedWrite {
  readonly write: Write;
  readonly size: number;
  /** The latest time at which the commit of the write may begin, as a value of `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: AnimalStoreError) => void;
}

/**
 * The queue of the writes that are to be stored, in the order of their arrival. A write that is still queued at its
 * deadline is rejected, and never stored.
 */
export class WriteQueue {
  readonly #onLate: () => void;
  #writes: QueuedWrite[] = [];
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLate called when writes were rejected at their deadline */
  constructor(onLate: () => void = () => {}) {
    this.#onLate = onLate;
  }

  get length(): number {
    return this.#writes.length;
  }

  /**
   * Queues a write. The promise resolves when the write is stored, and rejects when the write fails. When the queue is
   * full, the promise rejects at once with `overloaded`.
   */
  queueWrite(write: Write): Promise<Written> {
    const size = sizeOf(write);
    if (this.#writes.length >= QUEUE_LIMIT || this.#size + size > QUEUE_SIZE_LIMIT) {
      return Promise.reject(new AnimalStoreError('overloaded', 'too many writes are queued for the disk'));
    }
    this.#size += size;
    return new Promise((resolve, reject) => {
      this.#writes.push({ write, size, deadline: performance.now() + QUEUE_TIMEOUT, resolve, reject });
      if (this.#timer === undefined) this.#startTimer();
    });
  }

  /**
   * Rejects the writes that are past their deadline. Then removes and returns the oldest remaining writes, at most
   * `count`.
   */
  takeWrites(count: number): QueuedWrite[] {
    this.#refuseLate();
    return this.#remove(count);
  }

  /** Puts writes back at the front of the queue, so that they are stored next. */
  putBackWrites(writes: readonly QueuedWrite[]): void {
    this.#writes.unshift(...writes);
    for (const { size } of writes) this.#size += size;
    this.#refuseLate();
    if (this.#timer === undefined) this.#startTimer();
  }

  refuseWrites(error: AnimalStoreError): void {
    rejectWrites(this.#remove(this.#writes.length), error);
  }

  #remove(count: number): QueuedWrite[] {
    const removed = this.#writes.splice(0, count);
    for (const { size } of removed) this.#size -= size;
    return removed;
  }

  #refuseLate(): void {
    const now = performance.now();
    const inTime = this.#writes.findIndex(({ deadline }) => deadline > now);
    const late = this.#remove(inTime === -1 ? this.#writes.length : inTime);
    if (late.length === 0) return;
    const message = `the database was busy for ${QUEUE_TIMEOUT / 1000} seconds: nothing was stored`;
    rejectWrites(late, unavailable(message));
    this.#onLate();
  }

  /**
   * Starts a timer for the deadline of the oldest write, unless the queue is empty. When the timer fires, late writes
   * are rejected, and a timer for the next write is started. The timer continues to run when the oldest write leaves
   * the queue earlier, because this does no harm.
   */
  #startTimer(): void {
    const [oldest] = this.#writes;
    this.#timer = undefined;
    if (oldest === undefined) return;
    const left = Math.max(1, Math.ceil(oldest.deadline - performance.now()));
    this.#timer = setTimeout(() => {
      this.#refuseLate();
      this.#startTimer();
    }, left).unref();
  }
}

export function rejectWrites(writes: readonly QueuedWrite[], error: AnimalStoreError): void {
  for (const { reject } of writes) reject(error);
}

function sizeOf(write: Write): number {
  let size = BYTES_PER_WRITE;
  for (const statement of write) {
    for (const value of statement) {
      if (typeof value === 'string') size += BYTES_PER_CODE_UNIT * value.length;
      else if (value instanceof Uint8Array) size += value.byteLength;
    }
  }
  return size;
}
