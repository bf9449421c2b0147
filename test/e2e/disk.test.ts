/** Tests a server on a disk that is full, or whose calls fail, and that works again later. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import type { Answer } from '../support/client.ts';
import { until } from '../support/clock.ts';
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
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../support/small-disk.ts';

const env = { API_KEYS: OPERATOR_KEY, DATABASE_URL: 'sqlite:pets.db' };
const PET = newPetJson(samplePet('x'.repeat(255)));

/** Creates pets until a create fails. Resolves with the acknowledged pets and with the response to the failed create. */
async function fill({ client }: Service): Promise<{ stored: string[]; refused: Answer }> {
  const answers: Answer[] = [];
  await until(async () => {
    answers.push(await client.post(PET));
    return answers.at(-1)?.status !== 201;
  });
  const refused = answers.pop() as Answer;
  return { stored: answers.map(({ body }) => body), refused };
}

async function allPets({ client }: Service): Promise<string[]> {
  return (await client.pages('/v1/pets?limit=100')).map((body) => body.slice(1, -1));
}

async function create({ client }: Service): Promise<number> {
  return (await client.post(PET)).status;
}

test.skipIf(!canMount)(
  `a server on a full disk refuses creates, reads, loses no pet, and is ready when there is room again${mountNote}`,
  async () => {
    const disk = new SmallDisk('1m');
    const file = join(disk.folder, 'pets.db');
    const service = await startService({ cwd: disk.folder, env });
    const { stored, refused } = await fill(service);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(refused.body).code).toBe('storage_unavailable');
    expect(stored.length).toBeGreaterThan(5);
    expect(await readinessOf(service)).toEqual(notReady('disk_full'));
    const more = await Promise.all(Array.from({ length: 100 }, () => create(service)));
    expect(more).toEqual(Array(100).fill(503));
    expect(await readinessOf(service)).toEqual(notReady('disk_full'));
    expect((await allPets(service)).join()).toBe(stored.join());

    const { size } = statSync(file);
    disk.resize('8m');
    await untilReadinessIs(service, READY);
    expect(statSync(file).size - size).toBeLessThan(1024 * 1024);
    expect(await create(service)).toBe(201);
    await stopService(service);
    expect(stateLines(service)).toMatchObject([{ level: 50, reason: 'disk_full' }, { level: 30 }]);

    expect((await allPets(await startService({ cwd: disk.folder, env }))).join()).toContain(stored.join());
  },
);

test.skipIf(!canFaultDisk)(
  `a server on a disk whose calls fail is not ready until they succeed, and after a failed fsync until a restart${faultyDiskNote}`,
  async () => {
    const cwd = temporaryFolder();
    const disk = faultyDisk();
    const service = await startService({ cwd, env: { ...env, ...disk.env } });
    expect(await create(service)).toBe(201);

    disk.set('write');
    expect(await create(service)).toBe(503);
    expect(await readinessOf(service)).toEqual(notReady('io_error'));
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    disk.set('none');
    await untilReadinessIs(service, READY);

    disk.set('read');
    await untilReadinessIs(service, notReady('damaged'));
    disk.set('none');
    await untilReadinessIs(service, READY);
    expect(await create(service)).toBe(201);

    disk.set('fsync');
    expect(await create(service)).toBe(503);
    expect(await readinessOf(service)).toEqual(notReady('sync_failed'));
    disk.set('none');
    expect(await create(service)).toBe(503);
    expect(await readinessOf(service)).toEqual(notReady('sync_failed'));
    expect(JSON.parse((await service.client.get('/v1/pets')).body)).toHaveLength(2);
    await stopService(service);
    expect(stateLines(service).map(({ reason }) => reason)).toEqual([
      'io_error',
      undefined,
      'damaged',
      undefined,
      'sync_failed',
    ]);

    const again = await startService({ cwd, env });
    expect(await readinessOf(again)).toEqual(READY);
    expect(await create(again)).toBe(201);
    expect(JSON.parse((await again.client.get('/v1/pets')).body)).toHaveLength(3);
  },
);
