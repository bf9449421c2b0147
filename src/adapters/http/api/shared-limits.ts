import type { Rule } from '../../../application/arguments.ts';

/** A limit on the rate of requests: at most `requests` at once, and on average `requests` in `seconds` seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export const RATE_LIMIT_RULE: Rule = {
  expected: 'a number of requests of 1 or more, and a number of seconds',
  accepts(value) {
    const { requests, seconds } = (value ?? {}) as RateLimit;
    return Number.isSafeInteger(requests) && requests >= 1 && Number.isFinite(seconds) && seconds > 0;
  },
};

/** The number of callers whose requests are remembered, and how many places a caller can have among them. */
const CALLERS_LIMIT = 16_384;
const PLACES = 8;

/** The size of the buckets in bytes: for each caller its hash, and the time at which its bucket is full. */
const BUCKETS_SIZE = 16 * CALLERS_LIMIT;

const NANOSECONDS = 1e6;

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

/**
 * Limits the rate of requests of each caller with a token bucket. A bucket is found by the hash of its caller. When all
 * places of a caller are taken, the bucket that is full first is forgotten.
 */
export class RateLimiter {
  readonly #buckets: BigInt64Array;
  readonly #period: bigint;
  readonly #interval: bigint;

  /** @param buckets of this size, all 0, which limiters of other threads can share */
  constructor({ requests, seconds }: RateLimit, buckets: BigInt64Array) {
    this.#buckets = buckets;
    this.#period = BigInt(Math.round(seconds * 1000 * NANOSECONDS));
    this.#interval = this.#period / BigInt(requests);
  }

  /** Takes a token of the caller and returns 0, or returns the milliseconds until the caller has one. */
  takeToken(caller: string): number {
    // A change of the system clock has no effect on this clock, which is the same in all threads.
    const now = process.hrtime.bigint();
    const place = this.#placeOf(hashOf(caller)) + 1;
    for (;;) {
      const known = Atomics.load(this.#buckets, place);
      const fullAt = (known > now ? known : now) + this.#interval;
      const wait = fullAt - now - this.#period;
      if (wait > 0n) return Number(wait) / NANOSECONDS;
      if (Atomics.compareExchange(this.#buckets, place, known, fullAt) === known) return 0;
    }
  }

  #placeOf(hash: bigint): number {
    const first = Number(BigInt.asUintN(32, hash)) % CALLERS_LIMIT;
    let free = -1;
    let earliest = 0n;
    for (let probe = 0; probe < PLACES; probe++) {
      const place = 2 * ((first + probe) % CALLERS_LIMIT);
      const known = Atomics.load(this.#buckets, place);
      if (known === hash) return place;
      const fullAt = Atomics.load(this.#buckets, place + 1);
      if (free === -1 || fullAt < earliest) {
        free = place;
        earliest = fullAt;
      }
    }
    const known = Atomics.load(this.#buckets, free);
    if (Atomics.compareExchange(this.#buckets, free, known, hash) !== known) return this.#placeOf(hash);
    Atomics.store(this.#buckets, free + 1, 0n);
    return free;
  }
}

/** Returns a hash that is not 0, because 0 marks a place without a bucket (FNV-1a with 64 bits). */
function hashOf(caller: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < caller.length; index++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(caller.charCodeAt(index))) * 0x100000001b3n);
  }
  return BigInt.asIntN(64, hash) || 1n;
}
