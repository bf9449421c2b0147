/**
 * The main module of a process: valid requests at a steady rate, whether the server keeps up or not. A tenth of them is sent
 * on new connections. Every response is checked. A latency starts when the request is due.
 */

import type { RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { quote } from '../../support/response-reader.ts';
import { KeepAliveClient, type Reply } from './client.ts';
import { Latencies } from './latencies.ts';

export interface GoodLoad {
  readonly port: number;
  readonly key: string;
  readonly perSecond: number;
  /** Distinguishes the pets of one load from the pets of another. */
  readonly name: string;
}

export interface GoodResult {
  readonly sent: number;
  readonly failed: number;
  /** Descriptions of the first failures. */
  readonly failures: readonly string[];
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The pets of every 201, as received. */
  readonly pets: readonly string[];
  /** The number of failed creates, whose pets may be stored or not. */
  readonly uncertain: number;
}

const CONNECTIONS = 32;

/** Each client opens a new connection after this number of requests, in turn with the others. */
const REQUESTS_PER_CONNECTION = 10;

/** In milliseconds. The maximum time of a request after it was due. */
const DEADLINE = 5000;

const SHOWN_FAILURES = 10;

/**
 * In milliseconds. The pause of a client after a failed request. There is none after a right response that is late: the
 * requests that are due would otherwise never be made up for, and each of them would fail.
 */
const PATIENCE = 100;

const load = JSON.parse(process.argv[2] ?? '') as GoodLoad;
const headers = { Authorization: `Bearer ${load.key}` };
const latencies = new Latencies();
const idle = Array.from({ length: CONNECTIONS }, () => new KeepAliveClient(load.port, DEADLINE));
const due: number[] = [];
const pets: string[] = [];
const failures: string[] = [];
let sent = 0;
let failed = 0;
let uncertain = 0;
let inFlight = 0;
let isStopping = false;

/** A successful response. */
type Response = Exclude<Reply, { readonly failure: string }>;

interface Request {
  readonly path: string;
  readonly options: RequestOptions;
  readonly body?: string;
  /** Returns the kind of request if the response to it is wrong. */
  readonly faultOf: (response: Response) => string | undefined;
}

/** Of ten requests, two are creates, five are gets and three are lists. */
function nextRequest(): Request {
  const turn = sent % 10;
  if (turn % 5 === 0 || pets.length === 0) return create();
  const [pet = ''] = pets.slice(-1 - (sent % Math.min(pets.length, 1000)));
  const id = /^\{"id":(\d+)/.exec(pet)?.[1] ?? '';
  return turn < 6 ? get(id, pet) : list(id);
}

function create(): Request {
  const members = `"name":"${load.name} ${sent}","categoryId":${9_223_372_036_854_775_807n - BigInt(sent)}`;
  const body = `{${members}}`;
  const fields = { ...headers, 'Content-Type': 'application/json', 'Content-Length': body.length };
  return {
    path: '/v1/pets',
    options: { method: 'POST', headers: fields },
    body,
    faultOf({ status, body: received }) {
      const text = received.toString();
      if (status !== 201 || !/^\{"id":\d+,/.test(text) || !text.endsWith(`,${members},"status":"available"}`))
        return 'create';
      pets.push(text);
      return undefined;
    },
  };
}

function get(id: string, pet: string): Request {
  return {
    path: `/v1/pets/${id}`,
    options: { headers },
    faultOf: ({ status, body }) => (status === 200 && body.toString() === pet ? undefined : 'get'),
  };
}

function list(after: string): Request {
  return {
    path: `/v1/pets?limit=20&after=${after}`,
    options: { headers },
    faultOf({ status, body }) {
      const found = JSON.parse(status === 200 ? body.toString() : '[{"id":0}]') as { id: number }[];
      const isAscending = found.every(({ id }, index) => id > (found[index - 1]?.id ?? Number(after)));
      return isAscending && found.length <= 20 ? undefined : 'list';
    },
  };
}

async function send(client: KeepAliveClient, dueAt: number): Promise<void> {
  const { path, options, body, faultOf } = nextRequest();
  sent += 1;
  inFlight += 1;
  const reply = await client.request(path, options, body);
  const latency = performance.now() - dueAt;
  latencies.add(latency);
  const fault = failureOf(reply, faultOf);
  const failure = fault ?? (latency > DEADLINE ? `${Math.round(latency)} ms` : undefined);
  if (failure !== undefined) {
    failed += 1;
    if (body !== undefined) uncertain += 1;
    if (failures.length < SHOWN_FAILURES) failures.push(`${options.method ?? 'GET'} ${path}: ${failure}`);
  }
  if (fault !== undefined) await sleep(PATIENCE);
  if (sent % REQUESTS_PER_CONNECTION === 0) client.disconnect();
  inFlight -= 1;
  idle.push(client);
}

function failureOf(reply: Reply, faultOf: (response: Response) => string | undefined): string | undefined {
  if ('failure' in reply) return reply.failure;
  const fault = faultOf(reply);
  return fault === undefined
    ? undefined
    : `not the right response to a ${fault}: ${reply.status} ${quote(reply.body.toString())}`;
}

process.once('message', () => {
  isStopping = true;
});
process.once('disconnect', () => process.exit(0));

let stopAt = Number.POSITIVE_INFINITY;
for (let next = performance.now(); !isFinished(); await sleep(1)) {
  const now = performance.now();
  if (isStopping) stopAt = Math.min(stopAt, now + DEADLINE);
  else for (; next <= now; next += 1000 / load.perSecond) due.push(next);
  while (due.length > 0 && idle.length > 0) {
    void send(idle.shift() as KeepAliveClient, due.shift() as number);
  }
}
if (due.length > 0) failures.push(`${due.length} requests were due and never sent`);

/** Requests that were due are still sent, unless the server takes too long. */
function isFinished(): boolean {
  return isStopping && ((due.length === 0 && inFlight === 0) || performance.now() > stopAt);
}

const result: GoodResult = {
  sent,
  failed: failed + due.length + inFlight,
  failures,
  ...latencies.summary(),
  pets,
  uncertain: uncertain + inFlight,
};
process.send?.(result, () => process.exit(0));
