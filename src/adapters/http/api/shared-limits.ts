import { BUCKETS_SIZE } from './rate-limiter.ts';

/** The place of a server among the servers of a process that listen on the same port, each in a thread of its own. */
export interface ServerThread {
  /** The number of the server, from 0. */
  readonly index: number;
  /** The number of the servers. */
  readonly count: number;
  /** The same memory for all of them, which {@link newSharedLimits} returns. */
  readonly memory: SharedArrayBuffer;
}

const NUMBERS_PER_SERVER = 2;

/** Returns the memory for this number of servers: the buckets of `RateLimiter`, and the numbers of each server. */
export function newSharedLimits(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(BUCKETS_SIZE + NUMBERS_PER_SERVER * Int32Array.BYTES_PER_ELEMENT * count);
}

/** Returns the numbers of connections of all servers, and then whether each of them listens. */
function numbersOf({ count, memory }: ServerThread): Int32Array {
  return new Int32Array(memory, BUCKETS_SIZE, NUMBERS_PER_SERVER * count);
}

/** Forgets a server that has ended without closing its connections. */
export function forgetServer(thread: ServerThread): void {
  const { index, count } = thread;
  for (const place of [index, count + index]) Atomics.store(numbersOf(thread), place, 0);
}

/** Counts the connections of all servers, and says whether any of them listens. */
export class SharedConnections {
  readonly #counts: Int32Array;
  readonly #listening: Int32Array;
  readonly #index: number;

  constructor(thread: ServerThread) {
    this.#counts = numbersOf(thread).subarray(0, thread.count);
    this.#listening = numbersOf(thread).subarray(thread.count);
    this.#index = thread.index;
  }

  /** Counts a connection, unless there would be more than `limit` of them. Returns whether it was counted. */
  add(limit: number): boolean {
    Atomics.add(this.#counts, this.#index, 1);
    let total = 0;
    for (let index = 0; index < this.#counts.length; index++) total += Atomics.load(this.#counts, index);
    if (total <= limit) return true;
    this.remove();
    return false;
  }

  remove(): void {
    Atomics.sub(this.#counts, this.#index, 1);
  }

  setListening(isListening: boolean): void {
    Atomics.store(this.#listening, this.#index, Number(isListening));
  }

  get isAnyListening(): boolean {
    return this.#listening.some((_, index) => Atomics.load(this.#listening, index) === 1);
  }
}
