/** Many rude connections, in front of the server and in front of the shipped nginx.conf, and a polite client beside them. */

import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../support/clock.ts';
import { REX_JSON } from '../support/pets.ts';
import { atEnd, OPERATOR_KEY } from '../support/process.ts';
import { ClientGroup, createOf, LIST, LIVEZ, type Outcomes, UNCHECKED } from './client/clients.ts';
import type { Crowd, CrowdResult } from './client/crowd.ts';
import { expectWithin } from './limits.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { RUDE } from './options.ts';
import { startFaultsServer } from './server.ts';
import { printTable } from './table.ts';

const MILLISECONDS = 5000;

/** The connections without a proxy, and the growth of memory that they may cause, in MB. */
const DIRECT = 500;
const MEMORY_LIMIT = 400;

/** The pause of the polite client between two requests, in milliseconds. */
const PAUSE = 20;

/** A liveness probe, on a connection of its own. */
const PROBE = { ...LIVEZ, options: { headers: { Connection: 'close' } } };

/**
 * Limits that only an unserved client exceeds, in milliseconds. Only runs on a quiet machine check them. Node.js accepts one
 * connection per turn of the event loop, so the first probe waits until each connection of the crowd is accepted.
 */
const FIRST_LIMIT = 60_000;
const MAX_LIMIT = 10_000;
const P99_LIMIT = 5000;

test(`${DIRECT} connections that send lists as fast as they can: they get 503 at worst, memory is bounded, and /livez responds`, async () => {
  const server = await startFaultsServer();
  await server.client.post(REX_JSON);
  const before = server.memory() ?? 0;
  const crowd = crowdAt(server.port, DIRECT);
  await crowd.started;
  const probe = () =>
    new ClientGroup({ origin: server.origin, clients: 1, next: () => PROBE, pause: () => 200 });
  const first = probe();
  await first.untilConnected();
  const accepted = await first.stop();
  const probes = probe();
  let peak = before;
  for (const end = performance.now() + MILLISECONDS; performance.now() < end; await sleep(200))
    peak = Math.max(peak, server.memory() ?? 0);
  const { reads, failures } = await probes.stop();
  const { served, refused, ...other } = await crowd.stop();
  const { p50, max } = reads.summary();
  printTable(`${DIRECT} connections without a proxy`, [
    ['served', 'refused', 'memory MB', 'at its peak', 'first /livez ms', 'then p50 ms', 'max ms'],
    [served, refused, Math.round(before), Math.round(peak), accepted.reads.summary().p50, p50, max],
  ]);
  const probed = [...accepted.failures, ...failures];
  expect({ ...other, probes: probed }).toEqual({ failures: [], broken: 0, probes: [] });
  expect(max).toBeGreaterThan(0);
  expectWithin(accepted.reads.summary().p50, FIRST_LIMIT);
  expectWithin(max, MAX_LIMIT);
  expect(served).toBeGreaterThan(DIRECT);
  expect(peak - before).toBeLessThan(MEMORY_LIMIT);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test.skipIf(!hasNginx)(
  `${RUDE} rude connections in front of nginx.conf: a polite client behind it is served${hasNginx ? '' : ' (skipped: nginx is not installed)'}`,
  async () => {
    const server = await startFaultsServer();
    const nginx = await startNginx({ servers: [server.port] });
    const calm = await politeFor(MILLISECONDS / 2, nginx.origin);
    const crowd = crowdAt(Number(new URL(nginx.origin).port), RUDE, '127.0.0.2');
    await crowd.started;
    const crowded = await politeFor(MILLISECONDS, nginx.origin);
    const { served, refused, failures } = await crowd.stop();
    const slowest = ({ reads, creates }: Outcomes) => Math.max(reads.summary().p99, creates.summary().p99);
    printTable(`${RUDE} rude connections: ${served} of their requests served, ${refused} refused`, [
      ['a polite client', 'requests', 'p99 ms'],
      ['alone', calm.requests, slowest(calm)],
      ['beside them', crowded.requests, slowest(crowded)],
    ]);
    const polite = [...calm.failures, ...crowded.failures];
    expect({ failures, polite }).toEqual({ failures: [], polite: [] });
    expect(refused).toBeGreaterThan(RUDE);
    expectWithin(slowest(crowded), P99_LIMIT);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

/** A process with many connections. */
function crowdAt(port: number, connections: number, address = '127.0.0.1') {
  const crowd: Crowd = { port, key: OPERATOR_KEY, connections, address };
  const child = fork(join(import.meta.dirname, 'client/crowd.ts'), [JSON.stringify(crowd)], { execArgv: [] });
  atEnd(() => child.kill('SIGKILL'));
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  const started = until(() => messages.length > 0);
  const stop = async (): Promise<CrowdResult> => {
    child.send('stop');
    await until(() => messages.length > 1);
    return messages[1] as CrowdResult;
  };
  return { started, stop };
}

/** A client that sends lists and creates, each second one on a new connection. */
async function politeFor(milliseconds: number, origin: string): Promise<Outcomes> {
  const group = new ClientGroup({
    origin,
    clients: 1,
    check: UNCHECKED,
    next: (_, count) => {
      const headers: Record<string, string> = count % 2 === 0 ? { Connection: 'close' } : {};
      return count % 4 < 2 ? { ...LIST, options: { headers } } : createOf(`polite ${count}`, headers);
    },
    pause: () => PAUSE,
  });
  await sleep(milliseconds);
  return group.stop();
}
