import { expect, onTestFinished, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/postgres/schema.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { changed, openStorage, REX } from './database.ts';
import { refusalOf } from './refusal.ts';

describePostgres('openPostgresStorage', () => {
  test('creates one schema when five storages are opened at once', async () => {
    const url = await newDatabaseUrl();
    const storages = await Promise.all(Array.from({ length: 5 }, () => openStorage(url)));
    const ids = await Promise.all(storages.map(async ({ pets }) => (await pets.add(REX)).id));
    expect(new Set(ids).size).toBe(5);
    const { rows } = await (await connect(url)).query('SELECT * FROM animal_store_schema');
    const epoch = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(rows).toEqual([{ only_row: true, version: SCHEMA_VERSION, epoch, probed_at: null }]);
  });

  test('creates no store when the store must exist', async () => {
    const url = await newDatabaseUrl();
    expect(await refusalOf(url, true)).toMatch(/: the database contains no store$/);
    for (const options of [{ mustExist: true }, { readOnly: true }])
      await expect(openPostgresStorage(url, options)).rejects.toMatchObject({ reason: 'file_missing' });
    expect(await examinePostgresStore(url)).toMatchObject({ exists: false });
    await (await openPostgresStorage(url)).close();
    await openStorage(url, { mustExist: true });
  });

  test('counts the use of its caches and connections', async () => {
    const storage = await openStorage(await newDatabaseUrl());
    await storage.pets.find(1n);
    await storage.apiKeys.find('unknown');
    await storage.pets.list({ limit: 5 });
    expect(storage.statistics?.()).toEqual({
      pages: { hits: 0, misses: 1 },
      keys: { hits: 0, misses: 1 },
      waitingWrites: 0,
      connections: { busy: 0, idle: 1, waiting: 0 },
    });
  });

  test('refuses a database whose encoding cannot represent all names', async () => {
    const url = await newDatabaseUrl();
    const name = `${new URL(url).pathname.slice(1)}_latin1`;
    const other = await connect(url);
    await other.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    onTestFinished(async () => {
      await (await connect(url)).query(`DROP DATABASE ${name} WITH (FORCE)`);
    });
    const refused = await refusalOf(changed(url, { pathname: name }));
    expect(refused).toMatch(/: the database has the encoding LATIN1, the store needs UTF8$/);
  });
});

test.each([
  ['localhost:1/pets', /^localhost:1\/pets: .* failed\b.*ECONNREFUSED/],
  [
    'no-such-host.invalid/pets',
    /^no-such-host\.invalid:5432\/pets: .* failed: getaddrinfo (ENOTFOUND|EAI_AGAIN) no-such-host\.invalid$/,
  ],
  ['host/pets?sslmode=verify-full&sslrootcert=/absent/ca.pem', /^host:5432\/pets: .*\/absent\/ca\.pem/],
])('a server that cannot be reached is refused in one line: %s', async (place, expected) => {
  expect(await refusalOf(`postgres://me:hunter2-of-the-test@${place}`)).toMatch(expected);
});
