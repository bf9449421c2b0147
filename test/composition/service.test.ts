import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Environment, loadConfig } from '../../src/composition/config.ts';
import { prepare } from '../../src/composition/prepare.ts';
import { serve } from '../../src/composition/serve.ts';
import { type Service, startService } from '../../src/composition/service.ts';
import { Client } from '../support/client.ts';
import { STORAGES, type StorageKind } from '../support/server.ts';

const OPERATOR_KEY = 'operator-key-of-32-characters-or-more';

const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

/** The environment of a service on a storage of its own. */
function environmentOf(kind: StorageKind): Environment {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const DATABASE_URL = kind === 'memory' ? 'memory:' : `sqlite:${join(folder, 'pets.db')}`;
  return { PORT: '0', LOG_LEVEL: 'silent', SHUTDOWN_TIMEOUT_MS: '100', DATABASE_URL };
}

async function start(environment: Environment): Promise<Service> {
  const service = await startService(loadConfig(environment), '1.0.0');
  onTestFinished(() => service.stop());
  return service;
}

function clientOf({ url }: Service, key: string | undefined): Client {
  const client = new Client(new URL(url).origin, key ?? '');
  onTestFinished(() => client.close());
  return client;
}

describe.each(STORAGES)('the service on %s', (kind) => {
  test('serves with its first key, and can be stopped twice', async () => {
    const service = await start(environmentOf(kind));
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(service.firstKey?.about.name).toBe('first key');
    const client = clientOf(service, service.firstKey?.key);
    expect((await client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    expect((await client.get('/v1/pets')).body).toContain('Rex');
    expect((await client.get('/readyz')).status).toBe(200);
    await service.stop();
    await service.stop();
    await expect(client.get('/livez')).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/);
  });

  test('accepts each key of API_KEYS', async () => {
    const service = await start({ ...environmentOf(kind), API_KEYS: `${OPERATOR_KEY}-1,${OPERATOR_KEY}-2` });
    expect(service.firstKey).toBeUndefined();
    for (const [key, status] of [
      [`${OPERATOR_KEY}-1`, 200],
      [`${OPERATOR_KEY}-2`, 200],
      [OPERATOR_KEY, 401],
    ] as const) {
      expect((await clientOf(service, key).get('/v1/pets')).status).toBe(status);
    }
  });

  test('sends CORS headers for the origins of CORS_ORIGIN', async () => {
    const service = await start({ ...environmentOf(kind), CORS_ORIGIN: 'https://a.example' });
    const response = await clientOf(service, service.firstKey?.key).get('/v1/pets', {
      Origin: 'https://a.example',
    });
    expect(response).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': 'https://a.example' },
    });
  });

  test('leaves nothing open when the port is in use', async () => {
    const first = await start(environmentOf(kind));
    const environment = environmentOf(kind);
    const port = new URL(first.url).port;
    await expect(start({ ...environment, PORT: port })).rejects.toThrow('EADDRINUSE');
    const second = await start(environment);
    expect(second.firstKey).toBeDefined();
  });
});

test('prepare opens the store without listening, and serve listens over it', async () => {
  const config = loadConfig(environmentOf('sqlite'));
  const prepared = await prepare(config, '1.0.0');
  onTestFinished(() => prepared.close());
  const rex = await prepared.parts.store.createPet({ name: 'Rex', categoryId: 7n });
  const { key } = await prepared.parts.store.apiKeys.create('me');
  const serving = await serve(prepared, '1.0.0');
  const client = new Client(new URL(serving.url).origin, key);
  onTestFinished(() => client.close());
  expect((await client.get('/v1/pets')).body).toContain('"name":"Rex"');
  await serving.stop(0);
  expect(await prepared.parts.store.getPet(rex.id)).toEqual(rex);
  await prepared.close();
  await prepared.close();
  await expect(prepared.parts.store.getPet(rex.id)).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test.skipIf(!hasIPv6)('the URL has an IPv6 address in brackets', async () => {
  const service = await start({ ...environmentOf('memory'), HOST: '::1' });
  expect(service.url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
  expect((await clientOf(service, service.firstKey?.key).get('/v1/pets')).status).toBe(200);
});

test('stored keys are valid beside those of API_KEYS, and only a store that has never had a key gets a first key', async () => {
  const environment = environmentOf('sqlite');
  const first = await start(environment);
  const key = first.firstKey?.key;
  await first.stop();
  const second = await start(environment);
  expect(second.firstKey).toBeUndefined();
  await second.stop();
  const third = await start({ ...environment, API_KEYS: OPERATOR_KEY });
  expect((await clientOf(third, key).get('/v1/pets')).status).toBe(200);
  expect((await clientOf(third, OPERATOR_KEY).get('/v1/pets')).status).toBe(200);
});

test('leaves nothing open when the first key cannot be stored', async () => {
  const environment = environmentOf('sqlite');
  const before = await start({ ...environment, API_KEYS: OPERATOR_KEY });
  const { port } = new URL(before.url);
  await before.stop();
  const db = new Database((environment['DATABASE_URL'] ?? '').slice('sqlite:'.length));
  db.exec("CREATE TRIGGER no_keys BEFORE INSERT ON api_keys BEGIN SELECT RAISE(ABORT, 'no keys'); END");
  await expect(start({ ...environment, PORT: port })).rejects.toMatchObject({ code: 'internal_error' });
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed');
  db.exec('DROP TRIGGER no_keys');
  db.close();
  expect((await start({ ...environment, PORT: port })).firstKey).toBeDefined();
});
