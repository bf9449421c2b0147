import { spawnSync } from 'node:child_process';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../support/client.ts';
import {
  canFaultDisk,
  canMount,
  faultyDisk,
  faultyDiskNote,
  mount,
  mountNote,
  notReady,
  READY,
  readinessOf,
  smallDisk,
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

const env = { API_KEYS: OPERATOR_KEY, DATABASE_URL: 'sqlite:pets.db' };
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const LONG = 'x'.repeat(255);

/**
 * Creates pets until a create fails. Resolves with the acknowledged pets and with the response to the failed create.
 */
async function fill({ client }: Service): Promise<{ stored: string[]; refused: Answer }> {
  const stored: string[] = [];
  for (let count = 0; count < 20_000; count += 1) {
    const answer = await client.post({ name: LONG, categoryId: count });
    if (answer.status !== 201) return { stored, refused: answer };
    stored.push(answer.body);
  }
  throw new Error('the disk is too large for this test');
}

async function allPets({ client }: Service): Promise<string> {
  const listed: string[] = [];
  for (let target: string | undefined = '/v1/pets?limit=100'; target !== undefined; ) {
    const { body, headers } = await client.get(target);
    listed.push(body.slice(1, -1));
    target = /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
  }
  return listed.join(',');
}

async function create({ client }: Service): Promise<number> {
  return (await client.post({ name: 'Rex', categoryId: 1 })).status;
}

/** Expects the service not to be ready for more than two seconds, with repeated requests as from a load balancer. */
async function expectStays(service: Service, reason: string): Promise<void> {
  for (let times = 0; times < 12; times += 1) {
    expect(await readinessOf(service)).toEqual(notReady(reason));
    await delay(200);
  }
}

describe('a disk', { timeout: 60_000 }, () => {
  test.skipIf(!canMount)(
    `that is full: creates are refused with 503, no pet is lost, and reads work${mountNote}`,
    async () => {
      const cwd = smallDisk('1m');
      const service = await startService({ cwd, env });
      const { stored, refused } = await fill(service);
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(JSON.parse(refused.body).code).toBe('storage_unavailable');
      expect(stored.length).toBeGreaterThan(20);
      expect((await service.client.get('/v1/pets?limit=1')).body).toBe(`[${stored[0]}]`);
      await stopService(service);

      expect(mount('-o', 'remount,size=8m', cwd)).toBe(true);
      const again = await startService({ cwd, env });
      expect(await allPets(again)).toBe(stored.join(','));
      expect(await create(again)).toBe(201);
      await stopService(again);
    },
  );

  test.skipIf(!canMount)(
    `that is full: the service is not ready until there is room again, without a create${mountNote}`,
    async () => {
      const cwd = smallDisk('1m');
      const service = await startService({ cwd, env });
      expect(await readinessOf(service)).toEqual(READY);
      const { stored } = await fill(service);
      expect(await readinessOf(service)).toEqual(notReady('disk_full'));
      await expectStays(service, 'disk_full');
      expect(await create(service)).toBe(503);
      expect(await allPets(service)).toBe(stored.join(','));

      const { size } = statSync(join(cwd, 'pets.db'));
      expect(mount('-o', 'remount,size=8m', cwd)).toBe(true);
      await untilReadinessIs(service, READY, 2500);
      expect(statSync(join(cwd, 'pets.db')).size - size).toBeLessThan(1024 * 1024);
      expect(await create(service)).toBe(201);
      expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'disk_full' }, { level: 30 }]);
      await stopService(service);
    },
  );

  test.skipIf(!canMount)(`that is read-only: the start fails with one line${mountNote}`, async () => {
    const cwd = smallDisk('8m');
    const first = await startService({ cwd, env });
    await create(first);
    await stopService(first);
    expect(mount('-o', 'remount,ro', cwd)).toBe(true);
    const { out, exit } = runBin(['serve'], { cwd, env });
    expect(await exit).toEqual({ code: 1, signal: null });
    expect(out.stderr).toMatch(/^animal-store: .*pets\.db.*\n$/);
    expect(out.stdout).toBe('');
  });

  test.skipIf(!canMount)(
    `that becomes read-only: the service is not ready until the disk is writable, without a create${mountNote}`,
    async () => {
      const cwd = smallDisk('8m');
      const service = await startService({
        cwd: temporaryFolder(),
        env: { ...env, DATABASE_URL: `sqlite:${join(cwd, 'pets.db')}` },
      });
      expect(await readinessOf(service)).toEqual(READY);
      expect(mount('--bind', cwd, cwd) && mount('-o', 'remount,bind,ro', cwd)).toBe(true);
      onTestFinished(() => {
        spawnSync('umount', ['--lazy', cwd]);
      });
      await untilReadinessIs(service, notReady('read_only'), 1500);
      await expectStays(service, 'read_only');
      expect((await service.client.get('/v1/pets')).status).toBe(200);
      expect(spawnSync('umount', [cwd]).status).toBe(0);
      await untilReadinessIs(service, READY, 2500);
      expect(await create(service)).toBe(201);
      expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'read_only' }, { level: 30 }]);
      expect(await stopService(service)).toEqual({ code: 0, signal: null });
    },
  );

  test.skipIf(!hasPrlimit)(
    `that accepts no more bytes: the service is not ready until writes succeed again${hasPrlimit ? '' : ' (skipped: there is no prlimit)'}`,
    async () => {
      const cwd = temporaryFolder();
      const service = await startService({ cwd, env });
      expect(await create(service)).toBe(201);
      const limit = (bytes: string) =>
        spawnSync('prlimit', ['--pid', String(service.child.pid), `--fsize=${bytes}:`]).status;
      expect(limit(String(statSync(join(cwd, 'pets.db-wal')).size))).toBe(0);
      expect(await create(service)).toBe(503);
      expect(await readinessOf(service)).toEqual(notReady('io_error'));
      await expectStays(service, 'io_error');
      expect(await create(service)).toBe(503);
      expect((await service.client.get('/v1/pets')).status).toBe(200);
      expect(limit('unlimited')).toBe(0);
      await untilReadinessIs(service, READY, 2500);
      expect(await create(service)).toBe(201);
      expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'io_error' }, { level: 30 }]);
      await stopService(service);
    },
  );
});

describe('damaged pages', { timeout: 60_000 }, () => {
  /** Starts a service with 5,000 pets. Their pages are in the database file, not in the write-ahead log. */
  async function serveMany(): Promise<{ service: Service; path: string }> {
    const cwd = temporaryFolder();
    const path = join(cwd, 'pets.db');
    const input = Array.from(
      { length: 5000 },
      (_, index) => `{"name":"${LONG}","categoryId":${index},"status":"sold"}\n`,
    ).join('');
    const { exit } = runBin(['import', '-'], { cwd, env, input });
    expect(await exit).toEqual({ code: 0, signal: null });
    return { service: await startService({ cwd, env }), path };
  }

  function overwrite(path: string, from: number, to: number): void {
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(to - from, 0xa5), 0, to - from, from);
    closeSync(file);
  }

  test('make the service not ready, even if no request reads them', async () => {
    const { service, path } = await serveMany();
    expect(await readinessOf(service)).toEqual(READY);
    await service.client.get('/v1/pets');
    overwrite(path, 4096, statSync(path).size);
    await untilReadinessIs(service, notReady('damaged'), 1500);
    await expectStays(service, 'damaged');
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'damaged' }]);
  });

  test('in the middle of the file make the service permanently not ready once a request reads one of them', async () => {
    const { service, path } = await serveMany();
    const middle = Math.floor(statSync(path).size / 8192) * 4096;
    overwrite(path, middle, middle + 64 * 4096);
    let status = 200;
    for (let id = 1; id <= 5000 && status === 200; id += 7) {
      status = (await service.client.get(`/v1/pets/${id}`)).status;
    }
    expect(status).toBe(503);
    expect(await readinessOf(service)).toEqual(notReady('damaged'));
    await expectStays(service, 'damaged');
    expect((await service.client.get('/v1/pets?limit=1')).status).toBe(200);
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'damaged' }]);
  });
});

describe.skipIf(!canFaultDisk)(`a disk whose calls fail${faultyDiskNote}`, { timeout: 60_000 }, () => {
  test('at an fsync: creates are refused until a restart, and acknowledged pets can be read', async () => {
    const cwd = temporaryFolder();
    const disk = faultyDisk();
    const service = await startService({ cwd, env: { ...env, ...disk.env } });
    expect(await create(service)).toBe(201);
    disk.set('fsync');
    expect(await create(service)).toBe(503);
    expect(await readinessOf(service)).toEqual(notReady('sync_failed'));
    disk.set('none');
    await expectStays(service, 'sync_failed');
    expect(await create(service)).toBe(503);
    expect(JSON.parse((await service.client.get('/v1/pets')).body)).toHaveLength(1);
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'sync_failed' }]);
    await stopService(service);
    const again = await startService({ cwd, env });
    expect(await readinessOf(again)).toEqual(READY);
    expect(await create(again)).toBe(201);
    expect(JSON.parse((await again.client.get('/v1/pets')).body)).toHaveLength(2);
  });

  test('at every write, as after an emergency remount: the service is not ready until writes succeed again', async () => {
    const disk = faultyDisk();
    const service = await startService({ env: { ...env, ...disk.env } });
    expect(await create(service)).toBe(201);
    disk.set('write');
    expect(await create(service)).toBe(503);
    expect(await readinessOf(service)).toEqual(notReady('io_error'));
    await expectStays(service, 'io_error');
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    disk.set('none');
    await untilReadinessIs(service, READY, 2500);
    expect(await create(service)).toBe(201);
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'io_error' }, { level: 30 }]);
  });

  test('at every read: the service is not ready until reads succeed again', async () => {
    const disk = faultyDisk();
    const service = await startService({ env: { ...env, ...disk.env } });
    expect(await create(service)).toBe(201);
    disk.set('read');
    await untilReadinessIs(service, notReady('damaged'), 1500);
    await expectStays(service, 'damaged');
    disk.set('none');
    await untilReadinessIs(service, READY, 2500);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'damaged' }, { level: 30 }]);
  });

  test('by hanging: every create has a response within 11 s, and the service stops within 21 s', async () => {
    const disk = faultyDisk();
    const service = await startService({ env: { ...env, ...disk.env, SHUTDOWN_TIMEOUT_MS: '100' } });
    expect(await create(service)).toBe(201);
    disk.set('hang');
    const start = performance.now();
    const inFlight = create(service).then((status) => [status, performance.now() - start] as const);
    await delay(100);
    const queued = Array.from({ length: 20 }, async () => [await create(service), performance.now() - start]);
    for (const [status, ms] of await Promise.all(queued)) {
      expect(status).toBe(503);
      expect(ms).toBeGreaterThan(4900);
      expect(ms).toBeLessThan(6000);
    }
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    const [status, ms] = await inFlight;
    expect(status).toBe(503);
    expect(ms).toBeLessThan(11_000);
    expect(await readinessOf(service)).toEqual(notReady('not_responding'));
    disk.set('none');
    await untilReadinessIs(service, READY, 2500);
    expect(await create(service)).toBe(201);
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'not_responding' }, { level: 30 }]);

    disk.set('hang');
    void create(service).catch(() => {});
    await delay(100);
    const stopping = performance.now();
    service.child.kill('SIGTERM');
    await untilLogged(service, 'stopped');
    expect(performance.now() - stopping).toBeLessThan(21_000);
    disk.set('none');
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });
});

async function untilLogged({ out }: Service, msg: string): Promise<void> {
  while (!out.stderr.includes(`"msg":"${msg}"`)) await delay(20);
}
