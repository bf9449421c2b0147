import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import { METHODS, type Operation } from '../../src/adapters/http/operations.ts';
import { BASE_PATH } from '../../src/adapters/http/paths.ts';
import { DAY } from '../../src/application/ports/idempotent-creates.ts';
import { loadConfig } from '../../src/composition/config.ts';
import { openParts } from '../../src/composition/container.ts';
import { publicPortNotice, serve } from '../../src/composition/serve.ts';
import { CHANGING, CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { REX_JSON as REX } from '../support/pets.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { STORAGES } from '../support/server.ts';
import { clientOf, environmentOf, startInProcess } from '../support/service.ts';

/** The metrics of one storage alone. */
const SERIES_OF: Readonly<Record<string, readonly string[]>> = {
  sqlite: ['commit_duration_seconds_count', 'waiting_writes 0', 'write_ahead_log_bytes '],
  postgres: ['database_waiting_calls 0', 'database_connections{state="idle"}'],
};

test.each(STORAGES)(
  'the service on %s serves with its first key, counts, and can be stopped twice',
  async (kind) => {
    const service = await startInProcess(await environmentOf(kind));
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(service.firstKey?.about.name).toBe('first key');
    const client = clientOf(service);
    expect((await client.get('/readyz')).status).toBe(200);
    expect((await client.post(REX, { 'Idempotency-Key': 'k' })).status).toBe(201);
    const { body } = await client.get('/metrics');
    for (const series of [
      'http_request_duration_seconds_count{method="POST",route="/v1/pets",status="201"} 1',
      'http_requests_in_flight 1',
      'http_connections 1',
      'idempotency_records 1',
      `build_info{version="1.0.0",node="${process.version}",storage="${kind}"} 1`,
      'storage_available 1',
      ...(SERIES_OF[kind] ?? []),
    ])
      expect(body).toContain(`\nanimal_store_${series}`);
    expect(body.includes('animal_store_commit_duration_seconds_count 0\n')).toBe(kind === 'memory');
    expect(service.hasConfiguredKeys).toBe(false);
    await service.stop();
    await service.stop();
    await expect(client.get('/livez')).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/);
  },
);

test('the records of the service end after IDEMPOTENCY_DAYS', async () => {
  const environment = await environmentOf('sqlite');
  const service = await startInProcess({ ...environment, IDEMPOTENCY_DAYS: '3' });
  const before = Date.now();
  expect((await clientOf(service).post(REX, { 'Idempotency-Key': 'k' })).status).toBe(201);
  const db = new Database(`${environment['DATABASE_URL']}`.replace('sqlite:', ''), { readonly: true });
  onTestFinished(() => void db.close());
  const end = db.prepare('SELECT valid_until FROM idempotency_records').pluck().get();
  expect(end).toBeGreaterThanOrEqual(before + 3 * DAY);
});

/** What is read or changed is created first, and removed last. */
const PLACES: Readonly<Record<string, number>> = { POST: 1, DELETE: 3 };
const place = ({ method }: Operation) => PLACES[method] ?? 2;

test.each(STORAGES)(
  'the service on %s succeeds with the documented example of each operation',
  async (kind) => {
    const service = await startInProcess({ ...(await environmentOf(kind)), ...CHANGING_SETTINGS });
    const operations = servedOperations({ ...CHANGING }).toSorted((a, b) => place(a) - place(b));
    const client = clientOf(service, undefined, operations);
    const { paths } = JSON.parse((await client.get('/openapi.json')).body);
    const statuses: unknown[] = [];
    for (const { id, method, path } of operations) {
      const { parameters, requestBody } = paths[path.slice(BASE_PATH.length)][method.toLowerCase()];
      const valuesIn = (where: string): Record<string, string> =>
        Object.fromEntries(
          (parameters as { in: string; name: string; example?: unknown }[])
            .filter((each) => each.in === where && each.example !== undefined)
            .map(({ name, example }) => [name, `${example}`]),
        );
      const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => valuesIn('path')[name] ?? '');
      const { examples } = requestBody?.content['application/json'] ?? {};
      const [example] = Object.values<{ value: unknown }>(examples ?? {});
      const response = await client.request(method, `${target}?${new URLSearchParams(valuesIn('query'))}`, {
        headers: { 'Content-Type': 'application/json', ...valuesIn('header') },
        ...(example && { body: JSON.stringify(example.value) }),
      });
      statuses.push([id, response.status]);
    }
    expect(statuses).toEqual(operations.map(({ id, method }) => [id, METHODS[method].success]));
  },
);

describe('the service', () => {
  test('shows its metrics to known keys while its storage fails, and nothing else', async () => {
    const folder = temporaryFolder();
    const client = clientOf(await startInProcess(await environmentOf('sqlite', folder)));
    const statuses = async () => [
      (await client.get('/metrics')).status,
      (await client.get('/v1/pets')).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    renameSync(join(folder, 'pets.db'), join(folder, 'away.db'));
    await expect.poll(statuses).toEqual([200, 503]);
    expect((await client.request('GET', '/metrics', { key: OPERATOR_KEY })).status).toBe(401);
  });

  test('accepts each key of API_KEYS, and sends CORS headers for the origins of CORS_ORIGIN', async () => {
    const service = await startInProcess({
      ...(await environmentOf('memory')),
      API_KEYS: `${OPERATOR_KEY}-1,${OPERATOR_KEY}-2`,
      CORS_ORIGIN: 'https://a.example',
    });
    expect([service.firstKey, service.hasConfiguredKeys]).toEqual([undefined, true]);
    for (const [key, status] of [
      [`${OPERATOR_KEY}-1`, 200],
      [`${OPERATOR_KEY}-2`, 200],
      [OPERATOR_KEY, 401],
    ] as const) {
      expect(await clientOf(service, key).get('/v1/pets', { Origin: 'https://a.example' })).toMatchObject({
        status,
        headers: { 'access-control-allow-origin': 'https://a.example' },
      });
    }
  });

  test('creates no first key that nobody would see, and says so', async () => {
    const config = loadConfig(await environmentOf('sqlite'), { isDiscarded: true });
    const parts = await openParts(config, '1.0.0');
    using warn = vi.spyOn(parts.log, 'warn');
    const service = await serve(parts, config, '1.0.0');
    onTestFinished(() => service.stop());
    expect(service.firstKey).toBeUndefined();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('no key was created'));
  });

  test('creates the folder of its file, and leaves nothing open when the port is in use', async () => {
    const { url } = await startInProcess(await environmentOf('memory'));
    const { port } = new URL(url);
    const folder = temporaryFolder();
    const environment = { ...(await environmentOf('sqlite', join(folder, 'deep/er'))), PORT: port };
    await expect(startInProcess(environment)).rejects.toThrow(`cannot listen on port ${port} of 127.0.0.1`);
    expect(readdirSync(join(folder, 'deep/er'))).toEqual(['pets.db']);
    expect((await startInProcess({ ...environment, PORT: '0' })).firstKey).toBeDefined();
  });
});

test('a port can be public unless its address is that of a loopback, private or link-local network', () => {
  const open = '0.0.0.0 [::] [::12] 203.0.113.9 110.0.0.1 172.15.0.1 172.32.0.1';
  const loopback = '127.0.0.1 [::1] [::ffff:127.0.0.1]';
  const internal = '192.168.1.2 172.16.0.1 172.20.0.1 172.31.0.1 10.0.0.1 169.254.1.1 [fd00::1] [fe80::1]';
  const hosts = [open, loopback, internal].join(' ').split(' ');
  const warned = hosts.filter((host) => publicPortNotice(`http://${host}:3000/v1`) !== undefined);
  expect(warned).toEqual(open.split(' '));
});

test.each([
  [
    '0.0.0.0',
    [/^HOST: http:..0\.0\.0\.0:\d+.v1 may be reached from other networks: let only a reverse proxy/],
  ],
  ['127.1', []],
])('a start serves, and warns if other networks may reach the bound address: %s', async (HOST, warnings) => {
  const config = loadConfig({ ...(await environmentOf('memory')), API_KEYS: OPERATOR_KEY, HOST });
  const parts = await openParts(config, '1.0.0');
  const warn = vi.spyOn(parts.log, 'warn');
  const maintain = vi.spyOn(parts.store, 'startMaintenance');
  const service = await serve(parts, config, '1.0.0');
  onTestFinished(service.stop);
  expect(maintain).toHaveBeenCalledOnce();
  expect(warn.mock.calls).toEqual(warnings.map((text) => [expect.stringMatching(text)]));
  const client = clientOf(service, OPERATOR_KEY);
  expect((await client.post(REX)).status).toBe(201);
  expect((await client.get('/v1/pets/1')).status).toBe(200);
});
