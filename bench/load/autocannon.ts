/** The main module of a process that runs autocannon once, and prints the figures in the format of `wrk.lua`. */

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { nextRequest, seededRandom } from '../works.ts';
import type { ClosedLoad, Reported } from './closed.ts';

interface Prepared {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}

interface Result {
  readonly duration: number;
  readonly errors: number;
  readonly non2xx: number;
  readonly requests: { readonly total: number };
  readonly throughput: { readonly total: number };
  readonly latency: {
    readonly min: number;
    readonly max: number;
    readonly p50: number;
    readonly p90: number;
    readonly p99: number;
  };
}

type Autocannon = (options: Readonly<Record<string, unknown>>) => Promise<Result>;

const require = createRequire(import.meta.url);
const autocannon = require('autocannon') as Autocannon;
const load = JSON.parse(process.argv[2] ?? '') as ClosedLoad;
const { origin, work, pets, key, seconds, connections, idempotencyKeys } = load;
const random = seededRandom(42);
let createsSent = 0;

const usedBefore = process.cpuUsage();
const result = await autocannon({
  url: origin,
  connections,
  duration: seconds,
  timeout: 30,
  requests: [{ setupRequest: prepare }],
});

const { user, system } = process.cpuUsage(usedBefore);

function prepare(request: Prepared): Prepared {
  const { method, path, body } = nextRequest(work, pets, random);
  if (method === 'POST') createsSent++;
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body && { 'content-type': 'application/json' }),
    ...(body && idempotencyKeys && { 'idempotency-key': randomUUID() }),
  };
  return { ...request, method, path, headers, body };
}

const reported: Reported = {
  requests: result.requests.total,
  seconds: result.duration,
  bytes: result.throughput.total,
  min: result.latency.min,
  p50: result.latency.p50,
  p90: result.latency.p90,
  p99: result.latency.p99,
  longest: result.latency.max,
  refused: result.non2xx,
  broken: result.errors,
  createsSent,
  share: (user + system) / 1e6 / result.duration,
};
console.log(JSON.stringify(reported));
