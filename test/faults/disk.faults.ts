/**
 * A disk that hangs: creates wait and are refused in time, reads do not wait, and a stop ends. `test/e2e/disk.test.ts` has the
 * other faults.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  canFaultDisk,
  faultyDisk,
  faultyDiskNote,
  notReady,
  READY,
  stateLines,
  untilReadinessIs,
} from '../support/faults.ts';
import { REX_JSON } from '../support/pets.ts';
import { OPERATOR_KEY, startService } from '../support/process.ts';
import { expectWithin } from './limits.ts';

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
