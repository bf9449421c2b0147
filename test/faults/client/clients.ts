/** Clients that each keep one connection open, send one request at a time, and record every outcome. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { checked } from '../../support/answer-checks.ts';
import { type Answer, Client, type RequestOptions } from '../../support/client.ts';
import { until } from '../../support/clock.ts';
import { withRequired } from '../../support/pets.ts';
import { OPERATOR_KEY } from '../../support/process.ts';

export interface Exchange {
  readonly method: 'GET' | 'PATCH' | 'POST';
  readonly target: string;
  readonly options?: RequestOptions;
}

/** Times in milliseconds, and their statistics. */
export class Latencies {
  readonly #all: number[] = [];

  add(milliseconds: number): void {
    this.#all.push(milliseconds);
  }

  summary(): { readonly p50: number; readonly p99: number; readonly max: number } {
    const sorted = Float64Array.from(this.#all).sort();
    const at = (share: number) =>
      Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)) / 10;
    return { p50: at(0.5), p99: at(0.99), max: at(1) };
  }
}

/** The outcomes of all requests of a group of clients. */
export class Outcomes {
  requests = 0;
  /** The pets of every 201, as received. */
  readonly pets: string[] = [];
  /** A description of each request without the expected response. */
  readonly failures: string[] = [];
  /** In milliseconds. */
  readonly creates: Latencies = new Latencies();
  readonly reads: Latencies = new Latencies();
}

export interface GroupOptions {
  readonly origin: string;
  readonly clients: number;
  /** Returns the next request of a client, which may depend on the last response. */
  next(client: number, count: number, last: Answer | undefined): Exchange;
  /** Returns the pause before the next request, in milliseconds. */
  pause?(client: number): number;
  /** By default, the responses are those of a server without the experimental operations. */
  readonly check?: typeof checked;
  /** Whether a failed connection ends the client, because the server has stopped listening. */
  readonly endsWhenRefused?: boolean;
}

/** A group of clients, which send requests until `stop` is called. */
export class ClientGroup {
  readonly outcomes: Outcomes = new Outcomes();
  readonly #options: GroupOptions;
  readonly #running: Promise<unknown>;
  #connections = 0;
  #isStopping = false;

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#running = Promise.all(Array.from({ length: options.clients }, (_, client) => this.#run(client)));
  }

  /** Resolves when every client has received its first response, so that the server has accepted every connection. */
  async untilConnected(): Promise<void> {
    await until(() => this.#connections === this.#options.clients);
  }

  /** Resolves when every client has received its last response. */
  async stop(): Promise<Outcomes> {
    this.#isStopping = true;
    return this.ended();
  }

  /** Resolves when every client has ended because the server refused its connection. */
  async ended(): Promise<Outcomes> {
    await this.#running;
    return this.outcomes;
  }

  async #run(number: number): Promise<void> {
    const { origin, next, pause, check, endsWhenRefused = false } = this.#options;
    const client = new Client(origin, OPERATOR_KEY, check);
    let last: Answer | undefined;
    let idleSince = performance.now();
    for (let count = 0; !this.#isStopping; count++) {
      const exchange = next(number, count, last);
      const start = performance.now();
      const idle = start - idleSince;
      const { method, target, options } = exchange;
      const result = await client.request(method, target, options).catch((error: unknown) => error as Error);
      if (endsWhenRefused && isRefused(result)) break;
      idleSince = performance.now();
      this.#note(exchange, result, idleSince - start, idle);
      last = result instanceof Error ? undefined : result;
      if (count === 0) this.#connections += 1;
      const time = pause?.(number) ?? 0;
      if (time > 0) await sleep(time);
    }
    client.close();
  }

  #note({ method, target }: Exchange, result: Answer | Error, ms: number, idle: number): void {
    const { outcomes } = this;
    const times = `after ${ms} ms, on a connection without requests for ${idle} ms`;
    outcomes.requests += 1;
    const expected = method === 'POST' ? 201 : 200;
    const kind = isLost(result) ? LOST : '';
    if (result instanceof Error) outcomes.failures.push(`${method} ${target}: ${kind}${result} ${times}`);
    else if (result.status !== expected) {
      outcomes.failures.push(`${method} ${target}: ${result.status} ${result.body} ${times}`);
    } else if (method === 'POST') outcomes.pets.push(result.body);
    (method === 'POST' ? outcomes.creates : outcomes.reads).add(ms);
  }
}

/** Marks the description of a failure in which the connection failed. */
export const LOST = 'lost: ';

function isLost(result: unknown): boolean {
  return result instanceof Error && 'code' in result;
}

function isRefused(result: unknown): boolean {
  return result instanceof Error && 'code' in result && result.code === 'ECONNREFUSED';
}

/** For the responses of a proxy, which adds header fields. */
export const UNCHECKED: typeof checked = (answer) => answer;

/** Returns a create of a pet with the given name. */
export function createOf(name: string, headers: Readonly<Record<string, string>> = {}): Exchange {
  const body = JSON.stringify(withRequired({ name, categoryId: 1 }));
  const sent = { 'Content-Type': 'application/json', ...headers };
  return { method: 'POST', target: '/v1/pets', options: { headers: sent, body } };
}

export const LIST: Exchange = { method: 'GET', target: '/v1/pets' };
export const LIVEZ: Exchange = { method: 'GET', target: '/livez' };
