/** A disk that is slow while clients read and create. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { canFaultDisk, faultyDisk, faultyDiskNote, READY, readinessOf } from '../support/faults.ts';
import { OPERATOR_KEY } from '../support/process.ts';
import { ClientGroup, createOf, type Exchange, LIST, type Outcomes } from './client/clients.ts';
import { expectWithin } from './limits.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const LIVEZ: Exchange = { method: 'GET', target: '/livez' };

test.skipIf(!canFaultDisk)(
  `each fsync takes 200 ms longer: creates are slower, reads and /livez are not${faultyDiskNote}`,
  async () => {
    const disk = faultyDisk();
    const server = await FaultsServer.start({ env: disk.env });
    await loadFor(server, 500);
    const calm = await loadFor(server, 2000);
    disk.set('slow');
    const slow = await loadFor(server, 3000);
    expect(await readinessOf(server)).toEqual(READY);
    disk.set('none');
    printTable('Each fsync 200 ms longer', [
      ['', 'reads p50 ms', 'p99', '/livez p50', 'p99', 'creates p50', 'p99', 'reads', 'creates'],
      ['calm', ...figuresOf(calm)],
      ['slow', ...figuresOf(slow)],
    ]);
    const [reads, live, creates] = slow;
    for (const { failures } of slow) expect(failures).toEqual([]);
    expect(creates.creates.summary().p50).toBeGreaterThan(200);
    // Reads do not wait for an fsync.
    for (const { p50, p99 } of [reads.reads.summary(), live.reads.summary()]) {
      expect(p50).toBeLessThan(150);
      expectWithin(p50, 50);
      expectWithin(p99, 200);
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

type Loaded = readonly [reads: Outcomes, live: Outcomes, creates: Outcomes];

async function loadFor({ origin }: FaultsServer, milliseconds: number): Promise<Loaded> {
  const group = (clients: number, pause: number, next: (client: number, count: number) => Exchange) =>
    new ClientGroup({ origin, key: OPERATOR_KEY, clients, next, pause: () => pause });
  const reads = group(2, 5, () => LIST);
  const live = group(2, 5, () => LIVEZ);
  const creates = group(8, 1, (client, count) => createOf(`pet ${client}.${count}`));
  await sleep(milliseconds);
  return Promise.all([reads.stop(), live.stop(), creates.stop()]);
}

function figuresOf([reads, live, creates]: Loaded): number[] {
  const times = [reads.reads, live.reads, creates.creates].map((latencies) => latencies.summary());
  return [...times.flatMap(({ p50, p99 }) => [p50, p99]), reads.requests, creates.requests];
}
