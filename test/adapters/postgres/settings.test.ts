/** Defaults of a role or a database, row security, and changes of tables while a server runs. */

import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import { ConnectionPool } from '../../../src/adapters/postgres/connection-pool.ts';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { stopClock } from '../../support/clock.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import {
  attemptWith,
  errorsIn,
  LABEL,
  MAX,
  named,
  newStoreUrl,
  newWriter,
  openStorage,
  openStore,
  REX,
  walk,
  withSetting,
} from './database.ts';
import { refusalOf } from './refusal.ts';

const about = { name: 'ci', prefix: 'x', createdAt: 1 };

describePostgres('other settings of a database', () => {
  test.each(['repeatable read', 'serializable'])(
    'transactions that are %s: servers start together, and there is one first key, and one order',
    async (level) => {
      const setting = level.replace(' ', '\\ ');
      const url = withSetting(await newDatabaseUrl(), 'default_transaction_isolation', setting);
      const storages = await Promise.all(Array.from({ length: 4 }, () => openStorage(url)));
      const keys = storages.map(({ apiKeys }, index) => apiKeys.addFirst(`first ${index}`, about));
      expect((await Promise.all(keys)).filter((key) => key !== undefined)).toHaveLength(1);
      const writes = storages.flatMap((storage, index) => [
        storage.pets.add(named(`pet ${index}`)),
        storage.idempotentCreates.add(REX, attemptWith('shared')),
        importPets(storage, inBatches([named(`imported ${index}`)])),
      ]);
      await Promise.all(writes);
      expect(await walk(storages[0] as (typeof storages)[0])).toHaveLength(9);
      expect(await errorsIn(url)).toEqual([]);
    },
  );

  test('formats of a role change no value', async () => {
    const url = withSetting(await newDatabaseUrl(), 'array_nulls', 'off');
    const { apiKeys, pets, changes } = await openStorage(withSetting(url, 'extra_float_digits', '-15'));
    await apiKeys.add('key', { ...about, expiresAt: 1_234_567_890_123 });
    expect(await apiKeys.find('key')).toMatchObject({ expiresAt: 1_234_567_890_123 });
    const pet = await pets.add(REX);
    expect(await changes.replace({ ...pet, ...MAX }, pet.id)).toBeGreaterThan(pet.id);
  });

  test('row security is refused by the start and by a check, and doctor names the table', async () => {
    const { store, url, admin } = await newWriter();
    const clock = stopClock();
    const storage = await openStorage(url);
    await storage.pets.add(REX);
    await storage.check();
    await admin.query('ALTER TABLE pets ENABLE ROW LEVEL SECURITY');
    clock.pass(600);
    const message = expect.stringMatching(/row security applies to pets\b/);
    const refused = { code: 'storage_unavailable', reason: 'not_permitted', message };
    await expect(storage.check()).rejects.toMatchObject(refused);
    await expect(openPostgresStorage(url)).rejects.toMatchObject(refused);
    expect(await refusalOf(url)).toMatch(/use a role with BYPASSRLS$/);
    expect((await examinePostgresStore(url)).problems).toContainEqual({ severity: 'error', message });
    // The owner of a table sees all rows.
    await (await openStorage(store)).check();
    await admin.query('ALTER TABLE pets DISABLE ROW LEVEL SECURITY');
    clock.pass(600);
    await storage.check();
  });
});

describePostgres('a table that is altered while a server uses it', () => {
  test.skipIf(LABEL === 'id')('no call fails, on any connection of the pool', async () => {
    const { url, storage } = await openStore();
    const { id } = await storage.pets.add(REX);
    const calls = () => [
      ...Array.from({ length: 40 }, () => storage.pets.find(id)),
      storage.pets.list({ limit: 5 }),
      storage.pets.add(named('new')),
      storage.idempotentCreates.add(REX, attemptWith('key')),
      storage.apiKeys.find('unknown'),
    ];
    await Promise.all(calls());
    const admin = await connect(url);
    for (const type of ['varchar(2000)', 'text']) {
      await admin.query(`ALTER TABLE pets ALTER COLUMN ${LABEL} TYPE ${type}`);
      await Promise.all(calls());
    }
    await admin.query(`ALTER TABLE pets ALTER COLUMN ${LABEL} TYPE text COLLATE "C"`);
    await Promise.all(calls());
    await storage.check();
  });

  test('a statement that stays out of date is repeated once', async () => {
    const pool = new ConnectionPool(clientConfig(await newStoreUrl()), new KnownFaults([], {}), () => {});
    onTestFinished(() => pool.close());
    let count = 0;
    const begin = () => {
      count += 1;
      return { text: "DO $$ BEGIN RAISE SQLSTATE '0A000'; END $$" };
    };
    await expect(pool.run(begin)).rejects.toMatchObject({ code: '0A000' });
    expect(count).toBe(2);
  });

  test.each([
    ['22000', {}, 'is used again'],
    ['22000', { readOnly: true }, 'is closed, because its transaction is open'],
    ['25006', {}, 'is closed, because its server can be an old primary'],
    ['0A000', {}, 'is closed, because its statements can be out of date'],
    ['08006', {}, 'is closed, because it can be broken'],
  ])('a connection with the error %s and the options %o %s', async (code, options, fate) => {
    const config = { ...clientConfig(await newStoreUrl()), ...options };
    const pool = new ConnectionPool(config, new KnownFaults([], {}), () => {});
    onTestFinished(() => pool.close());
    const pid = () => pool.run(() => ({ text: 'SELECT pg_backend_pid()' }));
    const before = await pid();
    const refused = pool.run(() => ({ text: `DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$` }));
    await expect(refused).rejects.toMatchObject({ code });
    expect(isDeepStrictEqual(await pid(), before)).toBe(fate === 'is used again');
  });

  test('without a column, a check rejects as requests do', async () => {
    const clock = stopClock();
    const { url, storage } = await openStore();
    await storage.check();
    await (await connect(url)).query('ALTER TABLE api_keys RENAME COLUMN hint TO other');
    clock.pass(600);
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
  });
});
