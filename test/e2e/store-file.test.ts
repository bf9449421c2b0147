/** Tests a server whose open store files are moved away, and moved back. */

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notReady, READY, readinessOf, stateLines, untilReadinessIs } from '../support/faults.ts';
import {
  OPERATOR_KEY,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';

function serve(path: string): Promise<Service> {
  return startService({ env: { API_KEYS: OPERATOR_KEY, DATABASE_URL: `sqlite:${path}` } });
}

async function create({ client }: Service): Promise<string> {
  const { status, body } = await client.post({ name: 'Rex', categoryId: 1 });
  expect(status).toBe(201);
  return body;
}

async function expectRefused({ client }: Service): Promise<void> {
  const { status, body } = await client.post({ name: 'Max', categoryId: 1 });
  expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 503, code: 'storage_unavailable' });
  expect(body).not.toContain('pets.db');
}

test('no create is acknowledged while the files of the store are elsewhere, and none is lost', async () => {
  const folder = join(temporaryFolder(), 'data');
  const path = join(folder, 'pets.db');
  mkdirSync(folder);
  const service = await serve(path);
  const acknowledged = [await create(service)];

  renameSync(folder, `${folder}.old`);
  await expectRefused(service);
  expect(await readinessOf(service)).toEqual(notReady('file_missing'));
  expect((await service.client.get('/v1/pets')).status).toBe(503);
  expect((await service.client.get('/v1/pets/1')).status).toBe(503);
  expect((await service.client.get('/livez')).status).toBe(200);
  renameSync(`${folder}.old`, folder);
  await untilReadinessIs(service, READY);
  acknowledged.push(await create(service));

  renameSync(path, `${path}.old`);
  writeFileSync(path, 'no database');
  // No create and no check of the readiness notices the fault first.
  await expect.poll(async () => (await service.client.get('/v1/pets')).status).toBe(503);
  expect(await readinessOf(service)).toEqual(notReady('file_replaced'));
  await expectRefused(service);
  renameSync(`${path}.old`, path);
  await untilReadinessIs(service, READY);
  acknowledged.push(await create(service));

  await expect
    .poll(() => stateLines(service))
    .toMatchObject([
      { level: 50, reason: 'file_missing' },
      { level: 30 },
      { level: 50, reason: 'file_replaced' },
      { level: 30 },
    ]);
  expect(await stopService(service)).toEqual({ code: 0, signal: null });
  const again = await serve(path);
  expect((await again.client.get('/v1/pets')).body).toBe(`[${acknowledged}]`);
});
