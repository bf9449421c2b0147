import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/composition/config.ts';
import { openParts } from '../../src/composition/container.ts';
import { publicPortNotice, serve } from '../../src/composition/serve.ts';
import { Client } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { withRequired } from '../support/pets.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { STORAGES } from '../support/server.ts';
import { clientOf, environmentOf, startInProcess } from '../support/service.ts';

test.each(STORAGES)('the service on %s serves with its first key, and can be stopped twice', async (kind) => {
  const service = await startInProcess(await environmentOf(kind));
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  expect(service.firstKey?.about.name).toBe('first key');
  const client = clientOf(service);
  expect((await client.post(withRequired({ name: 'Rex', categoryId: 1 }))).status).toBe(201);
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
  const rex = await parts.store.createPet(withRequired({ name: 'Rex', categoryId: 7n }));
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

test.each(STORAGES)('/metrics of %s shows requests, the server and what the storage counts', async (kind) => {
  const service = await startInProcess(await environmentOf(kind));
  const client = clientOf(service);
  await client.post(withRequired({ name: 'Rex', categoryId: 1 }), { 'Idempotency-Key': 'k' });
  const { body } = await client.get('/metrics');
  for (const series of [
    'http_request_duration_seconds_count{method="POST",route="/v1/pets",status="201"} 1',
    'http_requests_in_flight 1',
    'http_connections 1',
    'idempotency_records 1',
    `build_info{version="1.0.0",node="${process.version}",storage="${kind}"} 1`,
    'storage_available 1',
    ...(kind === 'sqlite' ? ['commit_duration_seconds_count', 'waiting_writes 0'] : []),
    ...(kind === 'postgres' ? ['database_waiting_calls 0', 'database_connections{state="idle"}'] : []),
  ]) {
    expect(body).toContain(`\nanimal_store_${series}`);
  }
});

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
  expect((await client.post(withRequired({ name: 'Rex', categoryId: 7 }))).status).toBe(201);
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
  await expect(started).rejects.toMatchObject({ code: 'internal_error' });
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed');
  db.exec('DROP TRIGGER no_keys');
  expect((await startInProcess({ ...environment, PORT: port })).firstKey).toBeDefined();
});

test.each([
  ['0.0.0.0', true],
  ['::', true],
  ['203.0.113.9', true],
  ['pets.example', true],
  ['127.0.0.1', false],
  ['localhost', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['192.168.1.2', false],
  ['172.31.0.1', false],
  ['fd00::1', false],
  ['fe80::1%eth0', false],
])('a port of %s can be public: %s', (host, isPublic) => {
  const notice = publicPortNotice(host);
  expect(notice !== undefined).toBe(isPublic);
  if (isPublic) expect(notice).toContain(`HOST: ${host} may be reached from other networks: let only`);
});

test('a start on all addresses warns once', async () => {
  const config = loadConfig({ ...(await environmentOf('memory')), HOST: '0.0.0.0' });
  const parts = await openParts(config, '1.0.0');
  const warn = vi.spyOn(parts.log, 'warn');
  const { stop } = await serve(parts, config, '1.0.0');
  onTestFinished(stop);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('a public port without one is not supported')]]);
});
