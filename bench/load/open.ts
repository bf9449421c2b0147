/**
 * Generates load at a steady rate in a process of its own, even if the server cannot keep up. A latency starts when the
 * request is due, and so includes the time until a connection is free.
 */

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { runToEnd } from '../processes.ts';
import { nextRequest, seededRandom, type Work } from '../works.ts';

export interface Stream {
  /** The kinds of work that are requested in turn. */
  readonly works: readonly Work[];
  /** The requests per second. If the rate is 0, a connection sends its next request as soon as it has a response. */
  readonly rate: number;
  readonly connections: number;
}

export interface OpenLoad {
  readonly origin: string;
  readonly key: string;
  readonly pets: number;
  readonly seconds: number;
  readonly streams: readonly Stream[];
}

/** The result of one stream. Times are in milliseconds. */
export interface StreamResult {
  readonly sent: number;
  readonly responses: number;
  readonly refused: number;
  readonly perSecond: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
}

export async function runOpen(load: OpenLoad): Promise<readonly StreamResult[]> {
  const { output } = await runToEnd([process.execPath, import.meta.filename, JSON.stringify(load)]);
  return JSON.parse(output) as readonly StreamResult[];
}

async function runStream(
  { works, rate, connections }: Stream,
  { origin, key, pets, seconds }: OpenLoad,
): Promise<StreamResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const random = seededRandom(42);
  const latencies: number[] = [];
  let sent = 0;
  let refused = 0;
  const send = (due: number) =>
    new Promise<void>((resolve, reject) => {
      const { method, path, body } = nextRequest(works[sent++ % works.length] as Work, pets, random);
      const headers = {
        Authorization: `Bearer ${key}`,
        ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
      };
      request(origin + path, { method, headers, agent }, (response) => {
        if ((response.statusCode ?? 500) > 299) refused++;
        response.resume().once('end', () => {
          latencies.push(performance.now() - due);
          resolve();
        });
      })
        .once('error', reject)
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
  const responses = latencies.length;
  const perSecond = (1000 * responses) / (performance.now() - start);
  return { sent, responses, refused, perSecond, min: at(0), p50: at(0.5), p99: at(0.99) };
}

if (import.meta.main) {
  const load = JSON.parse(process.argv[2] ?? '') as OpenLoad;
  console.log(JSON.stringify(await Promise.all(load.streams.map((stream) => runStream(stream, load)))));
}
