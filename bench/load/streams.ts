/**
 * Generates load in a process of its own, either at a steady rate (even if the server cannot keep up) or as fast as the server
 * responds. A latency is measured from the time at which the request is due, so it includes the wait for a free connection.
 */

import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../src/testing/random.ts';
import { runToEnd } from '../processes.ts';
import { nextRequest, type Work } from '../works.ts';

export interface Stream {
  /** The kinds of work that are requested in turn. */
  readonly works: readonly Work[];
  /** The requests per second. If the rate is 0, a connection sends its next request as soon as it has a response. */
  readonly rate: number;
  readonly connections: number;
}

export interface StreamsLoad {
  readonly origin: string;
  readonly key: string;
  readonly pets: number;
  readonly seconds: number;
  readonly streams: readonly Stream[];
  /** Whether each create and change has a new `Idempotency-Key`. */
  readonly idempotencyKeys?: boolean;
  /** The epoch of the store, with which each cursor of changes begins. */
  readonly epoch?: string | undefined;
}

/** The figures of one stream, or of wrk. Times are in milliseconds, except `seconds`. */
export interface Reported {
  /** The number of requests with a response. */
  readonly requests: number;
  readonly seconds: number;
  /** The number of received bytes. wrk includes the header fields. */
  readonly bytes: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** The longest time that a client waited for a response. */
  readonly longest: number;
  /** The number of responses that are not 2xx. */
  readonly refused: number;
  /** The number of connections that failed or timed out. */
  readonly broken: number;
  readonly createsSent: number;
}

/** The number of pets that are changed again and again, and the difference between the ids of one pet and the next. */
const CHANGED = 1024;
const STEP = 977;

export async function runStreams(
  load: StreamsLoad,
): Promise<{ readonly share: number | undefined; readonly results: readonly Reported[] }> {
  const { output, share } = await runToEnd([process.execPath, import.meta.filename, JSON.stringify(load)]);
  return { share, results: JSON.parse(output) as readonly Reported[] };
}

async function runStream(
  { works, rate, connections }: Stream,
  { origin, key, pets, seconds, idempotencyKeys, epoch }: StreamsLoad,
): Promise<Reported> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const seeded = randomNumbers(42);
  const random = () => seeded(2 ** 32) / 2 ** 32;
  const latencies: number[] = [];
  const count = { sent: 0, bytes: 0, refused: 0, broken: 0, createsSent: 0 };
  /** The pets that were changed, with the entity tags of their responses. */
  const tagged: { id: number; tag: string }[] = [];
  const send = (due: number) =>
    new Promise<void>((resolve) => {
      const work = works[count.sent++ % works.length] as Work;
      const { id, tag } = (tagged.length >= CHANGED ? tagged.shift() : undefined) ?? {
        id: 1 + ((count.sent * STEP) % pets),
        tag: '*',
      };
      const { method, path, body } = nextRequest(work, { pets, epoch, changed: id }, random);
      if (method === 'POST') count.createsSent++;
      const headers = {
        Authorization: `Bearer ${key}`,
        ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
        ...(body && idempotencyKeys && { 'Idempotency-Key': randomUUID() }),
        ...(method === 'PATCH' && { 'If-Match': tag }),
      };
      request(origin + path, { method, headers, agent }, (response) => {
        if ((response.statusCode ?? 500) > 299) count.refused++;
        if (method === 'PATCH') tagged.push({ id, tag: response.headers.etag ?? '' });
        response.on('data', (data: Buffer) => {
          count.bytes += data.length;
        });
        response.once('end', () => {
          latencies.push(performance.now() - due);
          resolve();
        });
      })
        .once('error', () => {
          count.broken++;
          resolve();
        })
        .end(body);
    });
  const start = performance.now();
  const end = start + seconds * 1000;
  const sending: Promise<void>[] = [];
  if (rate === 0) {
    const repeat = async () => {
      while (performance.now() < end) await send(performance.now());
    };
    sending.push(...Array.from({ length: connections }, repeat));
  }
  for (let due = start; rate > 0 && due < end; await sleep(1)) {
    for (const now = Math.min(performance.now(), end); due < now; due += 1000 / rate) sending.push(send(due));
  }
  await Promise.all(sending);
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const { sent: _, ...counted } = count;
  const times = { min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), longest: latencies.at(-1) ?? 0 };
  return { requests: latencies.length, seconds: (performance.now() - start) / 1000, ...times, ...counted };
}

if (import.meta.main) {
  const load = JSON.parse(process.argv[2] ?? '') as StreamsLoad;
  console.log(JSON.stringify(await Promise.all(load.streams.map((stream) => runStream(stream, load)))));
}
