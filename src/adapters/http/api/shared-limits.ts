/** Limits that count for all servers on one port, each of which is in another thread of the process. */

import type { RateLimit } from './rate-limiter.ts';

/** The place of a server among the servers of a process that listen on the same port, each in a thread of its own. */
export interface ServerThread {
  /** The number of the server, from 0. */
  readonly index: number;
  /** The number of the servers. */
  readonly count: number;
  /** The same memory for all of them, which {@link newSharedLimits} returns. */
  readonly memory: SharedArrayBuffer;
}

/** The number of callers whose requests are remembered, and how many places a caller can have among them. */
const CALLERS_LIMIT = 16_384;
const PLACES = 8;

/** For each server the number of its connections and whether it listens, and for each caller its hash and the time at which its bucket is full. */
const BYTES_PER_SERVER = 8;
const BYTES_PER_CALLER = 16;

const NANOSECONDS = 1e6;

/** Returns the memory for this number of servers. */
export function newSharedLimits(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(BYTES_PER_SERVER * count + BYTES_PER_CALLER * CALLERS_LIMIT);
}

/** Forgets a server that has ended without closing its connections. */
export function forgetServer({ index, count, memory }: ServerThread): void {
  const numbers = new Int32Array(memory, 0, 2 * count);
  for (const place of [index, count + index]) Atomics.store(numbers, place, 0);
}

/** Counts the connections of all servers, and says whether any of them listens. */
export class SharedConnections {
  readonly #counts: Int32Array<SharedArrayBuffer>;
  readonly #listening: Int32Array<SharedArrayBuffer>;
  readonly #index: number;

  constructor({ index, count, memory }: ServerThread) {
    this.#counts = new Int32Array(memory, 0, count);
    this.#listening = new Int32Array(memory, this.#counts.byteLength, count);
    this.#index = index;
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
 * Limits the rate of the requests of each caller to all servers, as `RateLimiter` does for one server. A bucket is found
 * by the hash of its caller. When all places of a caller are taken, the bucket that is full first is forgotten.
 */
export class SharedRateLimiter {
  readonly #table: BigInt64Array<SharedArrayBuffer>;
  readonly #period: bigint;
  readonly #interval: bigint;

  constructor({ requests, seconds }: RateLimit, { count, memory }: ServerThread) {
    this.#table = new BigInt64Array(memory, BYTES_PER_SERVER * count);
    this.#period = BigInt(Math.round(seconds * 1000 * NANOSECONDS));
    this.#interval = this.#period / BigInt(requests);
  }

  /** Takes a token of the caller and returns 0, or returns the milliseconds until the caller has one. */
  takeToken(caller: string): number {
    // Unlike `performance.now()`, this clock is the same in all threads.
    const now = process.hrtime.bigint();
    const place = this.#placeOf(hashOf(caller), now) + 1;
    for (;;) {
      const known = Atomics.load(this.#table, place);
      const fullAt = (known > now ? known : now) + this.#interval;
      const wait = fullAt - now - this.#period;
      if (wait > 0n) return Number(wait) / NANOSECONDS;
      if (Atomics.compareExchange(this.#table, place, known, fullAt) === known) return 0;
    }
  }

  /** Returns the place of the bucket with this hash, which can be new. */
  #placeOf(hash: bigint, now: bigint): number {
    const first = Number(BigInt.asUintN(32, hash)) % CALLERS_LIMIT;
    let free = -1;
    let earliest = 0n;
    for (let probe = 0; probe < PLACES; probe++) {
      const place = 2 * ((first + probe) % CALLERS_LIMIT);
      const known = Atomics.load(this.#table, place);
      if (known === hash) return place;
      const fullAt = Atomics.load(this.#table, place + 1);
      if (free === -1 || fullAt < earliest) {
        free = place;
        earliest = fullAt;
      }
    }
    const known = Atomics.load(this.#table, free);
    if (Atomics.compareExchange(this.#table, free, known, hash) !== known) return this.#placeOf(hash, now);
    Atomics.store(this.#table, free + 1, 0n);
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
