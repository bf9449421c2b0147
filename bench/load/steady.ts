/**
 * The main module of a process that generates load at a steady rate over plain sockets, even if the server cannot keep
 * up. A latency starts when the request is due, and so includes the time until a connection is free.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { nextRequest, seededRandom } from '../works.ts';
import { Connection } from './connection.ts';
import type { SteadyLoad, SteadyResult, StreamOptions, StreamResult } from './open.ts';

/**
 * The shortest delay for which a timer is used, in milliseconds. Timers are not exact enough for shorter delays, which
 * are spent in a loop.
 */
const AWAKE = 2;

const { port, key, pets, seconds, warmup, streams } = JSON.parse(process.argv[2] ?? '') as SteadyLoad;
const random = seededRandom(42);

/** A stream of requests. If the rate is 0, a connection sends its next request as soon as it has a response. */
class Stream {
  readonly name: string;
  readonly #options: StreamOptions;
  readonly #idle: Connection[] = [];
  readonly #due: number[] = [];
  readonly #inFlight = new Map<Connection, number>();
  readonly #latencies: number[] = [];
  readonly #lags: number[] = [];
  readonly #measureFrom: number;
  #next: number;
  #turn = 0;
  #responsesInTime = 0;
  sent = 0;
  responses = 0;
  refused = 0;

  constructor(options: StreamOptions, start: number) {
    this.name = options.name;
    this.#options = options;
    this.#next = start;
    this.#measureFrom = start + warmup * 1000;
  }

  async connect(): Promise<void> {
    for (let count = 0; count < this.#options.connections; count++) {
      this.#idle.push(await Connection.open(port));
    }
  }

  /** Sends the requests that are due, and returns the time at which the next request is due. */
  tick(now: number): number {
    const { rate } = this.#options;
    if (rate === 0) {
      while (this.#idle.length > 0) this.#send(now);
      return Number.POSITIVE_INFINITY;
    }
    for (; this.#next <= now; this.#next += 1000 / rate) {
      this.#due.push(this.#next);
      if (this.#next >= this.#measureFrom) this.#lags.push(now - this.#next);
    }
    while (this.#due.length > 0 && this.#idle.length > 0) this.#send(this.#due.shift() ?? now);
    return this.#next;
  }

  #send(due: number): void {
    const connection = this.#idle.shift();
    const { works } = this.#options;
    const work = works[this.#turn++ % works.length];
    if (connection === undefined || work === undefined) return;
    this.sent++;
    this.#inFlight.set(connection, due);
    connection.exchange(nextRequest(work, pets, random), key, (status) => {
      this.responses++;
      this.#inFlight.delete(connection);
      if (status < 200 || status > 299) this.refused++;
      const now = performance.now();
      if (now >= this.#measureFrom) this.#responsesInTime++;
      if (due >= this.#measureFrom) this.#latencies.push(now - due);
      this.#idle.push(connection);
    });
  }

  /**
   * Returns the result at the time `now`. The latency of a request without a response is the time since the request was
   * due.
   */
  result(now: number): StreamResult {
    const unfinished = [...this.#due, ...this.#inFlight.values()]
      .filter((due) => due >= this.#measureFrom)
      .map((due) => now - due);
    const measured = this.#latencies.toSorted((a, b) => a - b);
    const latencies = measured.concat(unfinished).sort((a, b) => a - b);
    const { name, sent, responses, refused } = this;
    return {
      name,
      sent,
      responses,
      refused,
      unsent: this.#due.length,
      perSecond: this.#responsesInTime / seconds,
      p50: at(latencies, 0.5),
      p99: at(latencies, 0.99),
      min: measured[0] ?? Number.MAX_VALUE,
      lag: at(
        this.#lags.sort((a, b) => a - b),
        0.99,
      ),
    };
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const start = performance.now() + 100;
const all = streams.map((options) => new Stream(options, start));
for (const stream of all) await stream.connect();

const end = start + (warmup + seconds) * 1000;
for (let now = performance.now(); now < end; now = performance.now()) {
  const next = Math.min(...all.map((stream) => stream.tick(now)));
  if (next - now > AWAKE) await sleep(1);
  else await new Promise(setImmediate);
}

const result: SteadyResult = { streams: all.map((stream) => stream.result(end)) };
console.log(JSON.stringify(result));
process.exit(0);
