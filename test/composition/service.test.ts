import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/composition/config.ts';
import { openParts } from '../../src/composition/container.ts';
import { serve } from '../../src/composition/serve.ts';
import { Client } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { STORAGES } from '../support/server.ts';
import { clientOf, environmentOf, startInProcess } from '../support/service.ts';

test.each(STORAGES)('the service on %s serves with its first key, and can be stopped twice', async (kind) => {
  const service = await startInProcess(await environmentOf(kind));
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  expect(service.firstKey?.about.name).toBe('first key');
  const client = clientOf(service);
  expect((await client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  expect((await client.get('/v1/pets')).body).toContain('Rex');
  expect((await client.get('/readyz')).status).toBe(200);
  await service.stop();
  await service.stop();
  await expect(client.get('/livez')).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/);
});

describe('the service', () => {
  test('accepts each key of API_KEYS, and sends CORS headers for the origins of CORS_ORIGIN', async () => {
    const service = await startInProcess({
      ...(await environmentOf('memory')),
      API_KEYS: `${OPERATOR_KEY}-1,${OPERATOR_KEY}-2`,
      CORS_ORIGIN: 'https://a.example',
    });
    expect(service.firstKey).toBeUndefined();
    for (const [key, status] of [
      [`${OPERATOR_KEY}-1`, 200],
      [`${OPERATOR_KEY}-2`, 200],
      [OPERATOR_KEY, 401],
    ] as const) {
      const response = await clientOf(service, key).get('/v1/pets', { Origin: 'https://a.example' });
      expect(response).toMatchObject({
        status,
        headers: { 'access-control-allow-origin': 'https://a.example' },
      });
    }
  });

  test('creates the folder of its file, and leaves nothing open when the port is in use', async () => {
    const { url } = await startInProcess(await environmentOf('memory'));
    const { port } = new URL(url);
    const folder = temporaryFolder();
    const environment = { ...(await environmentOf('sqlite', join(folder, 'deep/er'))), PORT: port };
    await expect(startInProcess(environment)).rejects.toThrow(
      `port ${port} of 127.0.0.1 is used by another program (EADDRINUSE)`,
    );
    expect(readdirSync(join(folder, 'deep/er'))).toEqual(['pets.db']);
    expect((await startInProcess({ ...environment, PORT: '0' })).firstKey).toBeDefined();
  });

  test('waits for requests in flight for at most SHUTDOWN_TIMEOUT_MS', async () => {
    const service = await startInProcess({
      ...(await environmentOf('memory')),
      API_KEYS: OPERATOR_KEY,
      SHUTDOWN_TIMEOUT_MS: '10',
    });
    const connection = await Connection.open(service.url);
    connection.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\n`);
    connection.socket.write(
      'Content-Type: application/json\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    );
    await new Promise((resolve) => connection.socket.once('received', resolve));
    await service.stop();
    expect(await connection.rest()).toEqual([]);
    expect(connection.interim).toEqual([100]);
  });
});

test('the parts are open before the server listens, and are closed with it', async () => {
  const config = loadConfig(await environmentOf('sqlite'));
  const parts = await openParts(config, '1.0.0');
  onTestFinished(() => parts.close(0));
  const rex = await parts.store.createPet({ name: 'Rex', categoryId: 7n });
  const { key } = await parts.store.apiKeys.create('me');
  const { url, firstKey, stop } = await serve(parts, config, '1.0.0');
  expect(firstKey).toBeUndefined();
  const client = new Client(new URL(url).origin, key);
  onTestFinished(() => client.close());
  expect((await client.get('/v1/pets')).body).toContain('"name":"Rex"');
  expect(await parts.store.getPet(rex.id)).toEqual(rex);
  await stop();
  await expect(client.get('/livez')).rejects.toThrow();
  await expect(parts.store.getPet(rex.id)).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test.each(STORAGES)(
  '/metrics of %s has the time of the last verified backup, if the storage makes backups',
  async (kind) => {
    const config = loadConfig({ ...(await environmentOf(kind)), API_KEYS: OPERATOR_KEY });
    const parts = await openParts(config, '1.0.0');
    onTestFinished(() => parts.close(0));
    const lineOf = async () =>
      /^animal_store_last_verified_backup_timestamp_seconds.*$/m.exec(await parts.metrics.text())?.[0];
    const before = kind === 'sqlite' ? 'animal_store_last_verified_backup_timestamp_seconds 0' : undefined;
    expect(await lineOf()).toBe(before);
    if (kind !== 'sqlite') return;
    const madeAt = Date.now();
    await parts.store.backup(join(temporaryFolder(), 'copy.db'), { onVerified() {} });
    const [, value] = (await lineOf())?.split(' ') ?? [];
    expect(Number(value) * 1000).toBeGreaterThanOrEqual(madeAt - 1);
    expect(Number(value) * 1000).toBeLessThanOrEqual(Date.now() + 1);
  },
);

test('parts that have never listened can be closed', async () => {
  const parts = await openParts(loadConfig(await environmentOf('sqlite')), '1.0.0');
  await parts.close(0);
  await expect(parts.store.listPage()).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test('the database is closed when the server cannot be created', async () => {
  const folder = temporaryFolder();
  const { http, ...config } = loadConfig(await environmentOf('sqlite', folder));
  const refused = openParts({ ...config, http: { ...http, publicUrl: 'ftp://x' } }, '1.0.0');
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
  expect(readdirSync(folder)).toEqual(['pets.db']);
});

test('a start after the sunset of GET /v1/pets/{petId} logs a warning, and the operation is still served', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 11, 5) });
  onTestFinished(() => void vi.useRealTimers());
  const config = loadConfig({ ...(await environmentOf('memory')), API_KEYS: OPERATOR_KEY });
  const parts = await openParts(config, '1.0.0');
  const warn = vi.spyOn(parts.log, 'warn');
  const { url, stop } = await serve(parts, config, '1.0.0');
  onTestFinished(stop);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('GET /v1/pets/{petId} has passed its sunset')]]);
  const client = new Client(new URL(url).origin, OPERATOR_KEY);
  onTestFinished(() => client.close());
  expect((await client.post({ name: 'Rex', categoryId: 7 })).status).toBe(201);
  expect((await client.get('/v1/pets/1')).status).toBe(200);
});

test('leaves nothing open when the first key cannot be stored', async () => {
  const folder = temporaryFolder();
  const environment = await environmentOf('sqlite', folder);
  const before = await startInProcess({ ...environment, API_KEYS: OPERATOR_KEY });
  const { port } = new URL(before.url);
  await before.stop();
  const db = new Database(join(folder, 'pets.db'));
  onTestFinished(() => void db.close());
  db.exec("CREATE TRIGGER no_keys BEFORE INSERT ON api_keys BEGIN SELECT RAISE(ABORT, 'no keys'); END");
  const started = startInProcess({ ...environment, PORT: port });
  await expect(started).rejects.toMatchObject({ code: 'storage_unavailable' });
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed');
  db.exec('DROP TRIGGER no_keys');
  expect((await startInProcess({ ...environment, PORT: port })).firstKey).toBeDefined();
});

test.each(STORAGES.filter((kind) => kind !== 'memory'))(
  'a start on %s warns while another server has promised more days for idempotency keys',
  async (kind) => {
    const environment = { ...(await environmentOf(kind)), API_KEYS: OPERATOR_KEY };
    const noEffect =
      'IDEMPOTENCY_DAYS: 7 has no effect yet: in the last 30 days, a server of this store had 30, so idempotency keys are valid for 30 days';
    for (const [days, warnings] of [
      ['30', []],
      ['7', [[noEffect]]],
      ['60', []],
    ] as const) {
      const config = loadConfig({ ...environment, IDEMPOTENCY_DAYS: days });
      const parts = await openParts(config, '1.0.0');
      const warn = vi.spyOn(parts.log, 'warn');
      const { stop } = await serve(parts, config, '1.0.0');
      await stop();
      expect(warn.mock.calls.filter(([message]) => String(message).startsWith('IDEMPOTENCY'))).toEqual(
        warnings,
      );
    }
  },
);
