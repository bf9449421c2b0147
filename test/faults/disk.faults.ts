/**
 * A disk that hangs: creates wait, are refused in time, and a stop ends. A disk that is slow while clients read and create.
 * `test/e2e/disk.test.ts` has the other faults.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  canFaultDisk,
  faultyDisk,
  faultyDiskNote,
  notReady,
  READY,
  readinessOf,
  stateLines,
  untilReadinessIs,
} from '../support/faults.ts';
import { REX_JSON } from '../support/pets.ts';
import { OPERATOR_KEY, startService } from '../support/process.ts';
import { ClientGroup, createOf, type Exchange, LIST, LIVEZ, type Outcomes } from './client/clients.ts';
import { expectWithin } from './limits.ts';
import { type FaultsServer, startFaultsServer } from './server.ts';

test.skipIf(!canFaultDisk)(
  `a disk hangs: every create has a response, and the service stops${faultyDiskNote}`,
  async () => {
    const disk = faultyDisk();
    const settings = { API_KEYS: OPERATOR_KEY, DATABASE_URL: 'sqlite:pets.db', SHUTDOWN_TIMEOUT_MS: '100' };
    const service = await startService({ env: { ...settings, ...disk.env } });
    const create = async () => (await service.client.post(REX_JSON)).status;
    expect(await create()).toBe(201);
    disk.set('hang');
    const start = performance.now();
    const timed = async () => [await create(), performance.now() - start] as const;
    const inFlight = timed();
    await sleep(100);
    const queued = Array.from({ length: 20 }, timed);
    for (const [status, ms] of await Promise.all(queued)) {
      expect(status).toBe(503);
      expect(ms).toBeGreaterThan(4900);
      expectWithin(ms, 11_000);
    }
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    const [status, ms] = await inFlight;
    expect(status).toBe(503);
    expectWithin(ms, 11_000);
    await untilReadinessIs(service, notReady('not_responding'));
    disk.set('none');
    await untilReadinessIs(service, READY);
    expect(await create()).toBe(201);
    const states = [{ level: 50, reason: 'not_responding' }, { level: 30 }];
    await expect.poll(() => stateLines(service)).toMatchObject(states);

    disk.set('hang');
    void create().catch(() => {});
    await sleep(100);
    const stopping = performance.now();
    service.child.kill('SIGTERM');
    await expect.poll(() => service.out.stderr).toContain('"msg":"stopped"');
    expectWithin(performance.now() - stopping, 21_000);
    disk.set('none');
    expect(await service.exit).toEqual({ code: 0, signal: null });
  },
);

test.skipIf(!canFaultDisk)(
  `each fsync takes 200 ms longer: creates are slower, reads and /livez are not${faultyDiskNote}`,
  async () => {
    const disk = faultyDisk();
    const server = await startFaultsServer({ env: disk.env });
    await loadFor(server, 500);
    disk.set('slow');
    const slow = await loadFor(server, 3000);
    expect(await readinessOf(server)).toEqual(READY);
    disk.set('none');
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
