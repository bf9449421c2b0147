import { AnimalStoreError } from '../../domain/errors.ts';
import type { QueuedUnit } from './queued-unit.ts';
import type { Unit, Written } from './statement-writer.ts';

/**
 * The maximum number of queued units, and their maximum total size in bytes. A unit is a list of SQL statements that
 * take effect together or not at all. The size of a unit is estimated from its values.
 */
const QUEUE_LIMIT = 10_000;
const QUEUE_SIZE_LIMIT = 32 * 1024 * 1024;

/** How long a unit (a list of SQL statements) may stay in the queue, in milliseconds. */
const QUEUE_TIMEOUT = 5000;

const BYTES_PER_UNIT = 400;
const BYTES_PER_CODE_UNIT = 2;

/**
 * The queue of the units that are to be stored, in the order of their arrival. A unit is a list of SQL statements that
 * take effect together or not at all. A unit that is still queued at its deadline is rejected, and never stored.
 */
export class WriteQueue {
  #units: QueuedUnit[] = [];
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  get length(): number {
    return this.#units.length;
  }

  /**
   * Queues a unit. The promise resolves when the unit is stored, and rejects when the unit fails. When the queue is
   * full, the promise rejects at once with `overloaded`.
   */
  add(unit: Unit): Promise<Written> {
    const size = sizeOf(unit);
    if (this.#units.length >= QUEUE_LIMIT || this.#size + size > QUEUE_SIZE_LIMIT) {
      return Promise.reject(new AnimalStoreError('overloaded', 'too many writes are queued for the disk'));
    }
    this.#size += size;
    return new Promise((resolve, reject) => {
      this.#units.push({ unit, size, deadline: performance.now() + QUEUE_TIMEOUT, resolve, reject });
      if (this.#timer === undefined) this.#startTimer();
    });
  }

  /**
   * Rejects the units that are past their deadline. Then removes and returns the oldest remaining units, at most
   * `count`.
   */
  take(count: number): QueuedUnit[] {
    this.#refuseLate();
    return this.#remove(count);
  }

  /** Puts units back at the front of the queue, so that they are stored next. */
  putBack(units: readonly QueuedUnit[]): void {
    this.#units.unshift(...units);
    for (const { size } of units) this.#size += size;
    this.#refuseLate();
    if (this.#timer === undefined) this.#startTimer();
  }

  refuseAll(error: AnimalStoreError): void {
    for (const { reject } of this.#remove(this.#units.length)) reject(error);
  }

  #remove(count: number): QueuedUnit[] {
    const removed = this.#units.splice(0, count);
    for (const { size } of removed) this.#size -= size;
    return removed;
  }

  #refuseLate(): void {
    const now = performance.now();
    const inTime = this.#units.findIndex(({ deadline }) => deadline > now);
    const late = this.#remove(inTime === -1 ? this.#units.length : inTime);
    for (const { reject } of late) {
      reject(
        new AnimalStoreError(
          'storage_unavailable',
          `the database was busy for ${QUEUE_TIMEOUT / 1000} seconds: nothing was stored`,
        ),
      );
    }
  }

  /**
   * Starts a timer for the deadline of the oldest unit, unless the queue is empty. When the timer fires, late units are
   * rejected, and a timer for the next unit is started. The timer continues to run when the oldest unit leaves the
   * queue earlier, because this does no harm.
   */
  #startTimer(): void {
    const [oldest] = this.#units;
    if (oldest === undefined) {
      this.#timer = undefined;
      return;
    }
    const left = Math.max(1, Math.ceil(oldest.deadline - performance.now()));
    this.#timer = setTimeout(() => {
      this.#refuseLate();
      this.#startTimer();
    }, left).unref();
  }
}

function sizeOf(unit: Unit): number {
  let size = BYTES_PER_UNIT;
  for (const statement of unit) {
    for (const value of statement) {
      if (typeof value === 'string') size += BYTES_PER_CODE_UNIT * value.length;
      else if (value instanceof Uint8Array) size += value.byteLength;
    }
  }
  return size;
}
