/** Sends more requests than the server can handle, from many connections that ignore `Retry-After`. */

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATOR_KEY } from '../support/process.ts';
import type { Crowd, CrowdResult } from './crowd/crowd.ts';
import { CROWD } from './options.ts';
import { FaultsServer, PROCESSORS } from './server.ts';
import { Helper } from './soak/helper.ts';
import { Watch, type Watched } from './soak/watch.ts';
import { printTable } from './table.ts';

/** The usual full load, and the connections of an overload. */
const FULL_LOAD = 64;
const OVERLOAD = 2 * CROWD;

/** In seconds. The connections are opened, then send requests, and then are measured. */
const WARM_UP = 3;
const SECONDS = 5;

/**
 * In milliseconds, on a machine with {@link PROCESSORS} free. Where other programs take a part of them, the limits are divided
 * by the share of the server.
 */
const PROBE_MEDIAN_LIMIT = 100;
const PROBE_SLOWEST_LIMIT = 400;
const MEDIAN_LIMIT = 400;
const SLOWEST_LIMIT = 1000;

/**
 * The share of the requests that the server handles in a second of processor time under full load. With many connections
 * each request takes longer, also without refusals, because the processor's caches hold less of each connection.
 */
const GOODPUT_SHARE = 0.35;

const TIMEOUT = { timeout: 120_000 };

interface Round {
  readonly crowd: CrowdResult;
  readonly watched: Watched;
  /** The processor time that the server used per second. */
  readonly processor: number;
}

if (availableParallelism() < 2) console.warn('One processor: the load takes time from the server.');

describe.each(['list', 'create'] as const)('more requests than can be handled: %s', TIMEOUT, (work) => {
  let server: FaultsServer;
  let full: Round;
  let over: Round;

  beforeAll(async () => {
    server = await FaultsServer.start();
    full = await round(server, work, FULL_LOAD);
    over = await round(server, work, OVERLOAD);
    printTable(`Overload: ${work}`, [
      'connections|processor|served per s|refused|p50 ms|p99 ms|probes|p50 ms|p95 ms|max ms'.split('|'),
      row(FULL_LOAD, full),
      row(OVERLOAD, over),
    ]);
  }, TIMEOUT.timeout);

  afterAll(() => server?.kill());

  test('nothing is refused under full load', () => {
    expect(full.crowd).toMatchObject({ refused: 0, failed: 0 });
  });

  test('what is refused gets 503, Retry-After and overloaded, and no request fails otherwise', () => {
    expect(over.crowd).toMatchObject({ malformed: 0, failed: 0 });
  });

  test(`/livez responds within ${PROBE_MEDIAN_LIMIT} ms`, () => {
    expect(over.watched.failures).toEqual([]);
    const share = shareOfServer();
    expect(over.watched.latency.p50).toBeLessThan(PROBE_MEDIAN_LIMIT / share);
    expect(over.watched.latency.p95).toBeLessThan(PROBE_SLOWEST_LIMIT / share);
  });

  test('requests that are accepted get their response soon', () => {
    const share = shareOfServer();
    expect(over.crowd.accepted.p50).toBeLessThan(MEDIAN_LIMIT / share);
    expect(over.crowd.accepted.p99).toBeLessThan(SLOWEST_LIMIT / share);
  });

  /** Up to half of the processor time of a create is used by the writer thread. */
  function shareOfServer(): number {
    return Math.min(over.processor / (work === 'create' ? Math.max(PROCESSORS, 2) : PROCESSORS), 1);
  }

  test(`a second of processor time serves at least ${GOODPUT_SHARE} times as many requests as under full load`, () => {
    const goodput = ({ crowd, processor }: Round) => crowd.perSecond / processor;
    expect(goodput(over)).toBeGreaterThan(GOODPUT_SHARE * goodput(full));
  });
});

async function round(server: FaultsServer, work: Crowd['work'], connections: number): Promise<Round> {
  const options: Crowd = { port: server.port, key: OPERATOR_KEY, connections, work, warmUp: WARM_UP };
  const helper = new Helper<CrowdResult>('../crowd/crowd.ts', JSON.stringify(options));
  await helper.started;
  const watch = new Watch(server);
  const before = server.processorTime();
  await sleep(SECONDS * 1000);
  const processor = before === undefined ? 1 : ((server.processorTime() ?? 0) - before) / SECONDS;
  const watched = await watch.stop();
  return { crowd: await helper.stop(), watched, processor };
}

function row(connections: number, { crowd, watched, processor }: Round): (string | number)[] {
  const { accepted, perSecond, refused } = crowd;
  const { latency, probes } = watched;
  return [
    connections,
    processor.toFixed(2),
    perSecond,
    refused,
    accepted.p50,
    accepted.p99,
    probes,
    latency.p50,
    latency.p95,
    latency.max,
  ];
}
