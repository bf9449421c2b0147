import { AnimalStoreError } from '../../domain/errors.ts';
import type { Unit, Written } from './batch.ts';

/** How many units the queue holds, and how many bytes, estimated from their values. */
const QUEUE_LIMIT = 10_000;
const QUEUE_SIZE_LIMIT = 32 * 1024 * 1024;

/** How long a unit stays in the queue at most, in milliseconds. */
const QUEUE_TIMEOUT = 5000;

const BYTES_PER_UNIT = 400;
const BYTES_PER_CODE_UNIT = 2;

export interface QueuedUnit {
  readonly unit: Unit;
  readonly size: number;
  /** Until when its commit must have begun, by `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: AnimalStoreError) => void;
}

/** Units in the order of their arrival. One that is there at its deadline is refused then, and never stored. */
export class WriteQueue {
  #units: QueuedUnit[] = [];
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  get length(): number {
    return this.#units.length;
  }

  /** Resolves when the unit is settled. Rejects at once, with `overloaded`, when the queue is full. */
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

  /** Takes the oldest units of those that are in time. */
  take(count: number): QueuedUnit[] {
    this.#refuseLate();
    return this.#remove(count);
  }

  /** Puts units back to where they were taken from. */
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

  /** It is set for the oldest unit, and when that one was taken before, for the oldest of those that are left. */
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
