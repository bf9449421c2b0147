/** Opens thousands of connections that are idle or slow, or that break, while another client sends valid requests. */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Horde, HordeResult } from './crowd/horde.ts';
import { OPERATOR } from './keys.ts';
import { IDLE, PIPELINED, SLOW } from './options.ts';
import { FaultsServer, hasProc } from './server.ts';
import type { GoodLoad, GoodResult } from './soak/good-load.ts';
import { Helper } from './soak/helper.ts';
import { Watch, type Watched } from './soak/watch.ts';
import { printTable } from './table.ts';

const SLOW_KINDS = 3;
const TOTAL = IDLE + SLOW_KINDS * SLOW;

/** The descriptors that a process needs for other purposes. */
const OTHER_DESCRIPTORS = 500;

/** In seconds. Longer than the time for a request head, after which the server closes a slow connection. */
const SECONDS = TOTAL / 1000 + 13;

/** Valid requests per second. */
const PER_SECOND = 200;

/**
 * In milliseconds. Each probe opens a connection, and waits for its turn among the others that are opened: a server
 * accepts about 1,000 per second. At the end, all clients leave in the same moment.
 */
const MEDIAN_LIMIT = 100;
const SLOWEST_LIMIT = 5000;
const REST_TIMEOUT = 20_000;

/** In MB, per connection. */
const MEMORY_LIMIT = 0.1;

const TIMEOUT = { timeout: SECONDS * 1000 + 90_000 };

/** The number of descriptors that a process of this user can open. */
function descriptorLimit(): number {
  if (!hasProc) return 0;
  const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return Number(soft ?? Infinity);
}

const isPossible = descriptorLimit() >= TOTAL + OTHER_DESCRIPTORS;
if (!isPossible) console.warn(`SKIPPED: ${TOTAL} connections. Raise the limit with ulimit -n, on Linux.`);

describe.skipIf(!isPossible)(
  `${IDLE} idle connections, and ${SLOW_KINDS} times ${SLOW} slow ones`,
  TIMEOUT,
  () => {
    let server: FaultsServer;
    let horde: HordeResult;
    let good: GoodResult;
    let watched: Watched;
    let leaving: Watched;
    let idleMemory = 0;
    let descriptors: { readonly before: number; readonly during: number; readonly after: number };

    beforeAll(async () => {
      server = await FaultsServer.start({ logLevel: 'info' });
      await sleep(1000);
      const before = server.descriptors() ?? 0;
      idleMemory = server.memory() ?? 0;
      const watch = new Watch(server);
      const load: GoodLoad = { port: server.port, key: OPERATOR, perSecond: PER_SECOND, name: 'good' };
      const goodLoad = new Helper<GoodResult>('good-load.ts', JSON.stringify(load));
      const pipelined = Math.min(16, PIPELINED);
      const options: Horde = { port: server.port, key: OPERATOR, idle: IDLE, slow: SLOW, pipelined };
      const helper = new Helper<HordeResult>('../crowd/horde.ts', JSON.stringify(options));
      let during = 0;
      for (const end = performance.now() + SECONDS * 1000; performance.now() < end; await sleep(500)) {
        during = Math.max(during, server.descriptors() ?? 0);
      }
      good = await goodLoad.stop();
      watched = await watch.stop();
      const leavingWatch = new Watch(server);
      horde = await helper.stop();
      descriptors = { before, during, after: await atRest(before) };
      leaving = await leavingWatch.stop();
      report();
    }, TIMEOUT.timeout);

    afterAll(() => server?.kill());

    async function atRest(before: number): Promise<number> {
      const end = performance.now() + REST_TIMEOUT;
      while ((server.descriptors() ?? 0) > before + 2 && performance.now() < end) await sleep(200);
      return server.descriptors() ?? 0;
    }

    function report(): void {
      printTable('Connections', [
        ['', 'opened', 'closed by the server'],
        ...Object.entries(horde).map(([kind, { opened, closed }]) => [kind, opened, closed]),
      ]);
      printTable('The server', [
        ['valid requests, failed', `${good.sent}, ${good.failed}`],
        ['valid requests, p50, p99, max', `${good.p50}, ${good.p99}, ${good.max} ms`],
        [
          '/livez, p50, p95, max',
          `${watched.latency.p50}, ${watched.latency.p95}, ${watched.latency.max} ms`,
        ],
        ['/livez while all clients leave, max', `${leaving.latency.max} ms`],
        ['memory at rest, its peak', `${Math.round(idleMemory)}, ${watched.memory.peak} MB`],
        [
          'descriptors before, at most, after',
          `${descriptors.before}, ${descriptors.during}, ${descriptors.after}`,
        ],
      ]);
    }

    test('all connections are open at the same time, except for slow ones that were closed', () => {
      expect(Object.values(horde).map(({ opened }) => opened)).toEqual([IDLE, SLOW, SLOW, SLOW]);
      expect(horde['idle']?.closed).toBe(0);
      expect(descriptors.during).toBeGreaterThan(IDLE + 2 * SLOW);
    });

    test('a connection whose request head does not arrive is closed', () => {
      expect(horde['slow head']?.closed).toBe(SLOW);
    });

    test(`no valid request fails, at ${PER_SECOND} per second`, () => {
      expect({ failed: good.failed, failures: good.failures }).toEqual({ failed: 0, failures: [] });
      expect(good.sent).toBeGreaterThan(0.9 * PER_SECOND * SECONDS);
    });

    test(`/livez responds within ${MEDIAN_LIMIT} ms, and also when all clients leave at once`, () => {
      expect([...watched.failures, ...leaving.failures]).toEqual([]);
      expect(watched.latency.p50).toBeLessThan(MEDIAN_LIMIT);
      expect(Math.max(watched.latency.max, leaving.latency.max)).toBeLessThan(SLOWEST_LIMIT);
    });

    test(`a connection takes less than ${MEMORY_LIMIT} MB of memory`, () => {
      expect(watched.memory.peak - idleMemory).toBeLessThan(50 + MEMORY_LIMIT * TOTAL);
    });

    test('every descriptor is released when the clients are gone', () => {
      expect(descriptors.after).toBeLessThanOrEqual(descriptors.before + 2);
    });
  },
);
