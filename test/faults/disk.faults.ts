/** Faults of the disk that last while load balancers ask for the readiness: read-only, damaged or hanging disks. */

import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
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
import {
  OPERATOR_KEY,
  runBin,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { canMount, mountNote, mountReadOnly, SmallDisk } from '../support/small-disk.ts';
import { expectWithin } from './limits.ts';

const env = { API_KEYS: OPERATOR_KEY, DATABASE_URL: 'sqlite:pets.db' };

async function create({ client }: Service): Promise<number> {
  return (await client.post({ name: 'Rex', categoryId: 1 })).status;
}

/** Expects the service not to be ready for more than two seconds, with repeated requests as from a load balancer. */
async function expectStays(service: Service, reason: string): Promise<void> {
  for (let times = 0; times < 12; times += 1) {
    expect(await readinessOf(service)).toEqual(notReady(reason));
    await sleep(200);
  }
}

/** Expects the log to have a line about the fault and, if the fault has ended, a line about its end. */
async function expectStates(service: Service, reason: string, hasEnded: boolean): Promise<void> {
  const expected = [{ level: 50, reason }, ...(hasEnded ? [{ level: 30 }] : [])];
  await expect.poll(() => stateLines(service)).toMatchObject(expected);
}

test.skipIf(!canMount)(`a read-only disk: the start fails with one line${mountNote}`, async () => {
  const disk = new SmallDisk('8m');
  const options = { cwd: disk.folder, env };
  const first = await startService(options);
  await create(first);
  await stopService(first);
  disk.makeReadOnly();
  const { out, exit } = runBin(['serve'], options);
  expect(await exit).toEqual({ code: 1, signal: null });
  expect(out.stderr).toMatch(/^animal-store: .*pets\.db.*\n$/);
  expect(out.stdout).toBe('');
});

test.skipIf(!canMount)(
  `a disk becomes read-only: the service is not ready until the disk is writable, without a create${mountNote}`,
  async () => {
    const { folder } = new SmallDisk('8m');
    const service = await startService({
      cwd: temporaryFolder(),
      env: { ...env, DATABASE_URL: `sqlite:${join(folder, 'pets.db')}` },
    });
    expect(await readinessOf(service)).toEqual(READY);
    const unmount = mountReadOnly(folder, folder);
    await untilReadinessIs(service, notReady('read_only'));
    await expectStays(service, 'read_only');
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    unmount();
    await untilReadinessIs(service, READY);
    expect(await create(service)).toBe(201);
    await expectStates(service, 'read_only', true);
    expect(await stopService(service)).toEqual({ code: 0, signal: null });
  },
);

/** Starts a service with 5,000 pets. Their pages are in the database file, not in the write-ahead log. */
async function serveMany(): Promise<{ service: Service; path: string }> {
  const cwd = temporaryFolder();
  const input = `{"name":"${'x'.repeat(255)}","categoryId":1,"status":"sold"}\n`.repeat(5000);
  const { exit } = runBin(['import', '--create-store', '-'], { cwd, env, input });
  expect(await exit).toEqual({ code: 0, signal: null });
  return { service: await startService({ cwd, env }), path: join(cwd, 'pets.db') };
}

function overwrite(path: string, from: number, to: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(to - from, 0xa5), 0, to - from, from);
  closeSync(file);
}

test('damaged pages make the service not ready, even if no request reads them', async () => {
  const { service, path } = await serveMany();
  expect(await readinessOf(service)).toEqual(READY);
  overwrite(path, 4096, statSync(path).size);
  await untilReadinessIs(service, notReady('damaged'));
  await expectStays(service, 'damaged');
  await expectStates(service, 'damaged', false);
});

test('a damaged page in the middle of the file makes the service not ready for good once a request reads it', async () => {
  const { service, path } = await serveMany();
  const middle = Math.floor(statSync(path).size / 8192) * 4096;
  overwrite(path, middle, middle + 64 * 4096);
  let status = 200;
  for (let id = 1; id <= 5000 && status === 200; id += 7) {
    status = (await service.client.get(`/v1/pets/${id}`)).status;
  }
  expect(status).toBe(503);
  await expectStays(service, 'damaged');
  expect((await service.client.get('/v1/pets?limit=1')).status).toBe(200);
  await expectStates(service, 'damaged', false);
});

test.skipIf(!canFaultDisk)(
  `a disk hangs: every create has a response, and the service stops${faultyDiskNote}`,
  async () => {
    const disk = faultyDisk();
    const service = await startService({ env: { ...env, ...disk.env, SHUTDOWN_TIMEOUT_MS: '100' } });
    expect(await create(service)).toBe(201);
    disk.set('hang');
    const start = performance.now();
    const timed = async () => [await create(service), performance.now() - start] as const;
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
    expect(await create(service)).toBe(201);
    await expectStates(service, 'not_responding', true);

    disk.set('hang');
    void create(service).catch(() => {});
    await sleep(100);
    const stopping = performance.now();
    service.child.kill('SIGTERM');
    await expect.poll(() => service.out.stderr).toContain('"msg":"stopped"');
    expectWithin(performance.now() - stopping, 21_000);
    disk.set('none');
    expect(await service.exit).toEqual({ code: 0, signal: null });
  },
);
