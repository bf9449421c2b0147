import { expect, onTestFinished, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../../src/adapters/postgres/schema.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { addPets, changed, newOlderStoreUrl, openStorage, REX, withSetting } from './database.ts';
import { refusalOf } from './refusal.ts';

describePostgres('openPostgresStorage', () => {
  test('creates one schema when five storages are opened at once', async () => {
    const url = await newDatabaseUrl();
    const storages = await Promise.all(Array.from({ length: 5 }, () => openStorage(url)));
    const ids = await Promise.all(storages.map(async ({ pets }) => (await pets.add(REX)).id));
    expect(new Set(ids).size).toBe(5);
    const { rows } = await (await connect(url)).query('SELECT * FROM animal_store_schema');
    expect(rows).toEqual([{ only_row: true, version: SCHEMA_VERSION, probed_at: null }]);
  });

  /** What builds between 2.0 and 3.0 added to the first version. */
  const IN_BETWEEN = `ALTER TABLE pets ADD CONSTRAINT pets_rules CHECK (id > 0) NOT VALID;
    ALTER TABLE api_keys ADD COLUMN is_read_only boolean NOT NULL DEFAULT false;
    CREATE TABLE idempotency_promises (days integer PRIMARY KEY, ends_at bigint NOT NULL)`;

  test.each([
    ['2.0', 1, ''],
    ['a build between 2.0 and 3.0', 3, IN_BETWEEN],
  ])('a store of %s is migrated: pets, keys and records stay', async (_, version, changes) => {
    const now = Date.now();
    const rows = `INSERT INTO pets (name, category_id, status) VALUES ('Rex', 7, 'sold');
      INSERT INTO api_keys (hash, name, hint, created_at) VALUES ('\\x00', 'old', 'p', 1);
      INSERT INTO idempotency_records (caller, key, pet_id, created_at) VALUES ('1', 'old', 1, ${now - 1000})`;
    const url = await newOlderStoreUrl(`${changes}; ${rows}`, version);
    const before = await examinePostgresStore(url);
    expect(before).toMatchObject({ schemaVersion: version, pets: 1 });
    expect(before.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const readOnly = withSetting(url, 'default_transaction_read_only', 'on');
    expect(await refusalOf(readOnly)).toContain('is not migrated because the database is read-only: open it');
    const { pets, apiKeys, idempotentCreates } = await openStorage(url);
    const [rex, ...others] = (await pets.list({ limit: 2 })).pets as [Pet];
    expect([rex, ...others]).toMatchObject([{ id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' }]);
    expect(await apiKeys.list()).toMatchObject([{ name: 'old', isReadOnly: false }]);
    expect(await examinePostgresStore(url)).toMatchObject({ schemaVersion: SCHEMA_VERSION });
    // A record of 2.0 is valid for a day, whatever a server of this release would set.
    const DAY = 24 * 60 * 60 * 1000;
    const retry = (at: number) =>
      idempotentCreates.add(rex, { caller: '1', key: 'old', at, validUntil: at + 30 * DAY });
    expect(await retry(now - 1001 + DAY)).toMatchObject({ isReplay: true, pet: { id: 1n } });
    expect(await retry(now - 999 + DAY)).toMatchObject({ isReplay: false });
  });

  test.each(MIGRATIONS)(
    'a store with schema version %i is migrated: pets stay, also one that breaks a rule',
    async (version) => {
      const url = await newOlderStoreUrl('', version);
      const old = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' } as const;
      await addPets(await connect(url), old, { id: 2n, name: '' });
      const { pets } = await openStorage(url);
      expect((await pets.list({ limit: 3 })).pets).toMatchObject([old, { id: 2n, name: '' }]);
      expect((await pets.add(REX)).id).toBe(3n);
      const { schemaVersion, problems } = await examinePostgresStore(url);
      expect(schemaVersion).toBe(SCHEMA_VERSION);
      expect(
        problems.flatMap(({ message }) => /^pet (\d+) .*: (.+) must/.exec(message)?.slice(1) ?? []),
      ).toEqual(['2', 'name']);
    },
  );

  test('creates no store when the store must exist', async () => {
    const url = await newDatabaseUrl();
    expect(await refusalOf(url, true)).toMatch(/: the database contains no store$/);
    await expect(openPostgresStorage(url, { mustExist: true })).rejects.toMatchObject({
      reason: 'file_missing',
    });
    expect(await examinePostgresStore(url)).toMatchObject({ exists: false });
    await (await openPostgresStorage(url)).close();
    await openStorage(url, { mustExist: true });
  });

  test('refuses a database whose encoding cannot represent all names', async () => {
    const url = await newDatabaseUrl();
    const name = `${new URL(url).pathname.slice(1)}_latin1`;
    const other = await connect(url);
    await other.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    onTestFinished(async () => {
      const client = await connect(url);
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    });
    expect(await refusalOf(changed(url, { pathname: name }))).toMatch(
      /: the database has the encoding LATIN1, the store needs UTF8$/,
    );
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
