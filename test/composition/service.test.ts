import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Environment, loadConfig } from '../../src/composition/config.ts';
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
  test('serves with the key that it gave itself, and stops as often as it is told', async () => {
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

  test('takes the keys of API_KEYS, each with an id of its own', async () => {
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

  test('answers browsers from the origins of CORS_ORIGIN', async () => {
    const service = await start({ ...environmentOf(kind), CORS_ORIGIN: 'https://a.example' });
    const answer = await clientOf(service, service.firstKey?.key).get('/v1/pets', {
      Origin: 'https://a.example',
    });
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': 'https://a.example' },
    });
  });

  test('leaves nothing open when its port is taken', async () => {
    const first = await start(environmentOf(kind));
    const environment = environmentOf(kind);
    const port = new URL(first.url).port;
    await expect(start({ ...environment, PORT: port })).rejects.toThrow('EADDRINUSE');
    const second = await start(environment);
    expect(second.firstKey).toBeDefined();
  });
});

test.skipIf(!hasIPv6)('an IPv6 address stands in brackets where the service tells its own', async () => {
  const service = await start({ ...environmentOf('memory'), HOST: '::1' });
  expect(service.url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
  expect((await clientOf(service, service.firstKey?.key).get('/v1/pets')).status).toBe(200);
});

test('stored keys stay good beside those of API_KEYS, and only a store that never had one is given one', async () => {
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

test('leaves nothing open when its first key cannot be stored', async () => {
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
