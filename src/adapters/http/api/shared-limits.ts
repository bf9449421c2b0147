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

/** The limits on rates. Each has buckets of its own. */
const RATE_LIMITS = ['requests', 'metrics'] as const;

const NUMBERS_OFFSET = RATE_LIMITS.length * BUCKETS_SIZE;
const NUMBERS_PER_SERVER = 2;

/** Returns the memory for this number of servers: the buckets of each limit on rates, and the numbers of each server. */
export function newSharedLimits(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(NUMBERS_OFFSET + NUMBERS_PER_SERVER * Int32Array.BYTES_PER_ELEMENT * count);
}

/** Returns the buckets of a limit on rates, which all servers share. */
export function bucketsOf(limit: (typeof RATE_LIMITS)[number], thread?: ServerThread): BigInt64Array {
  const length = BUCKETS_SIZE / BigInt64Array.BYTES_PER_ELEMENT;
  if (thread === undefined) return new BigInt64Array(length);
  return new BigInt64Array(thread.memory, RATE_LIMITS.indexOf(limit) * BUCKETS_SIZE, length);
}

/** Returns the numbers of connections of all servers, and then whether each of them listens. */
function numbersOf({ count, memory }: ServerThread): Int32Array {
  return new Int32Array(memory, NUMBERS_OFFSET, NUMBERS_PER_SERVER * count);
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
