/** Opens crowds that never pause while new clients connect: a flood must not keep others out. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Crowd, CrowdResult } from './crowd/crowd.ts';
import { OPERATOR } from './keys.ts';
import { CROWD } from './options.ts';
import { FaultsServer } from './server.ts';
import { Helper } from './soak/helper.ts';
import { Watch } from './soak/watch.ts';
import { printTable } from './table.ts';

const ORIGIN = 'https://example.org';

/** How long a flood lasts, in seconds. */
const SECONDS = 5;

/**
 * The limits for `/livez` on a new connection, in milliseconds, on a machine with a free processor. Where other programs
 * take a part of the processor, the limits are divided by the share of the server. With a single listening socket, it
 * takes 7,000 and more.
 */
const P95_LIMIT = 1000;
const SLOWEST_LIMIT = 1500;

test.each<[name: string, flood: Partial<Crowd>]>([
  ['requests with a wrong key', { work: 'unauthorized', connections: CROWD }],
  ['connections that are closed after 100 responses', { work: 'list', connections: 1000, lifetime: 100 }],
  ['health checks', { work: 'livez', connections: CROWD }],
  ['preflight requests', { work: 'preflight', connections: CROWD }],
])('during a flood of %s, /livez responds on new connections', { timeout: 60_000 }, async (name, flood) => {
  const server = await FaultsServer.start({ env: { CORS_ORIGIN: ORIGIN } });
  try {
    const watch = new Watch(server);
    const before = server.processorTime();
    const options = { port: server.port, key: OPERATOR, warmUp: 0, isFlood: true, ...flood };
    const crowd = new Helper<CrowdResult>('../crowd/crowd.ts', JSON.stringify(options));
    await sleep(SECONDS * 1000);
    const share = before === undefined ? 1 : ((server.processorTime() ?? 0) - before) / SECONDS;
    const { latency, failures, probes } = await watch.stop();
    const { perSecond, refused } = await crowd.stop();
    printTable(`Flood: ${name}`, [
      ['processor', share.toFixed(2)],
      ['responses per s, refused', `${perSecond}, ${refused}`],
      ['/livez: probes, p50, p95, max', `${probes}, ${latency.p50}, ${latency.p95}, ${latency.max} ms`],
    ]);
    expect(failures).toEqual([]);
    expect(perSecond + refused).toBeGreaterThan(100);
    expect(latency.p95).toBeLessThan(P95_LIMIT / Math.min(share, 1));
    expect(latency.max).toBeLessThan(SLOWEST_LIMIT / Math.min(share, 1));
  } finally {
    await server.kill();
  }
});
