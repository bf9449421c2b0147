/** Opens, migrates and refuses stores of earlier releases. */

import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../../src/adapters/postgres/schema.ts';
import { insertPetOf30 } from '../../support/older-store.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { errorsIn, newStoreUrl, openStorage, REX, withSetting } from './database.ts';
import { refusalOf } from './refusal.ts';

/** Resolves with the columns and the indexes of all tables. */
async function columnsOf(url: string): Promise<unknown[]> {
  const { rows } = await (await connect(url)).query(`
    SELECT table_name, column_name, data_type, is_nullable, collation_name FROM information_schema.columns
      WHERE table_schema = current_schema()
    UNION ALL SELECT tablename, indexname, replace(indexdef, schemaname || '.', ''), '', '' FROM pg_indexes
      WHERE schemaname = current_schema() ORDER BY 1, 2`);
  return rows;
}

describePostgres('an older store', () => {
  /** Creates an empty store as 3.0 did, with the schema version of this release or of an earlier one. */
  async function createStoreOf30(version = 4): Promise<{ url: string; server: Client }> {
    const url = await newDatabaseUrl();
    const server = await connect(url);
    await server.query(`CREATE TABLE animal_store_schema (
        only_row boolean PRIMARY KEY CHECK (only_row), version integer NOT NULL, probed_at timestamptz);
      INSERT INTO animal_store_schema VALUES (true, ${version}); ${MIGRATIONS[0]?.[1]}`);
    return { url, server };
  }

  test('a store of a release before 3.0 is refused with advice, and stays unchanged', async () => {
    const { url } = await createStoreOf30(3);
    const before = await columnsOf(url);
    const advice =
      'has schema version 3, which is of a release before 3.0: start animal-store 3.0.0 with it once';
    expect(await refusalOf(url)).toContain(advice);
    await expect(openPostgresStorage(url, { migration: 'never' })).rejects.toThrow(advice);
    const problems = [{ severity: 'error', message: expect.stringContaining(advice) }];
    expect(await examinePostgresStore(url)).toMatchObject({ problems });
    expect(await columnsOf(url)).toEqual(before);
  });

  test('a store of 3.0 that lacks a column is not migrated', async () => {
    const { url, server } = await createStoreOf30();
    await server.query('ALTER TABLE api_keys RENAME caller_id TO other');
    const before = await columnsOf(url);
    expect(await refusalOf(url)).toContain('column "caller_id" does not exist');
    expect(await columnsOf(url)).toEqual(before);
  });

  test('a store of 3.0 is migrated, but not where it is read-only, and by a command only while it is alone', async () => {
    const { url, server } = await createStoreOf30();
    await server.query(insertPetOf30());
    await server.query('ALTER TABLE pets DROP CONSTRAINT pets_rules');
    await server.query("INSERT INTO pets (name, category_id, status) VALUES ('', 7, 'sold')");
    const readOnly = withSetting(url, 'default_transaction_read_only', 'on');
    expect(await refusalOf(readOnly)).toContain('the database is read-only, and the database has schema');
    const never = openPostgresStorage(url, { migration: 'never' });
    await expect(never).rejects.toThrow('use the release that wrote it');
    // The other connection has the same user, and no name.
    const alone = openPostgresStorage(url, { migration: 'alone' });
    await expect(alone).rejects.toThrow('another process has the store open');
    const warnings: string[] = [];
    const observer = { onWarning: (message: string) => warnings.push(message) };
    const { pets } = await openStorage(url, { observer });
    expect(warnings).toContainEqual(expect.stringContaining('migrated from version 4 to '));
    expect((await pets.list({ limit: 1 })).pets).toMatchObject([{ id: 1n, name: 'Rex', categoryId: 1n }]);
    const { schemaVersion, problems } = await examinePostgresStore(url);
    expect(schemaVersion).toBe(SCHEMA_VERSION);
    expect(problems).toContainEqual({ severity: 'error', message: expect.stringContaining('pet 2 was') });
    expect(await columnsOf(url)).toEqual(await columnsOf(await newStoreUrl()));
  });

  test('a migration does not wait for the end of a long transaction, because all writes of other servers would wait', {
    timeout: 30_000,
  }, async () => {
    const { url, server } = await createStoreOf30();
    await server.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS SHARE MODE');
    expect(await refusalOf(url)).toContain('another transaction held a lock of the database for too long');
    await server.query('ROLLBACK');
    await openStorage(url);
  });

  test('of three servers that start at once, only the one that migrates the store says so', async () => {
    const { url } = await createStoreOf30();
    const warnings: string[] = [];
    const observer = { onWarning: (message: string) => warnings.push(message) };
    await Promise.all([1, 2, 3].map(() => openStorage(url, { observer })));
    expect(warnings.filter((message) => message.includes('migrated'))).toHaveLength(1);
  });

  test('creates of 3.0 are replayed after the upgrade, and by a server of 3.0 beside the new one', async () => {
    const { url, server } = await createStoreOf30();
    await server.query(insertPetOf30());
    const until = Date.now() + 3_600_000;
    const record = (key: string, id: bigint) =>
      server.query({
        name: 'record-of-3.0',
        text: `INSERT INTO idempotency_records AS record (caller, key, pet_id, ends_at) VALUES ('1', $1, $2, $3)
          ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, ends_at = excluded.ends_at WHERE record.ends_at < 100`,
        values: [key, id, until],
      });
    await record('before', 1n);
    expect(await examinePostgresStore(url)).toMatchObject({ schemaVersion: 4, pets: 1 });
    expect(await errorsIn(url)).toEqual([]);
    const { idempotentCreates, changes } = await openStorage(url);
    const create = (key: string) => idempotentCreates.add(REX, { caller: '1', key, validFor: 3_600_000 });
    expect(await create('before')).toMatchObject({ pet: { id: 1n, name: 'Rex' }, isReplay: true });
    // The server of 3.0 makes a record, renews one of the new server, and reads one.
    await server.query(insertPetOf30(20n));
    await record('beside', 20n);
    expect(await create('beside')).toMatchObject({ pet: { id: 20n, name: 'Rex' }, isReplay: true });
    const { pet } = await create('new');
    const { rows } = await server.query("SELECT pet_id FROM idempotency_records WHERE key = 'new'");
    expect(rows).toEqual([{ pet_id: `${pet.id}` }]);
    await server.query(`UPDATE idempotency_records SET ends_at = 1 WHERE key = 'new'; ${insertPetOf30(30n)}`);
    await record('new', 30n);
    expect(await create('new')).toMatchObject({ pet: { id: 30n, name: 'Rex' }, isReplay: true });
    const revision = await changes.replace({ ...pet, name: 'Max' }, pet.id);
    const { rows: last } = await server.query(`${insertPetOf30()} RETURNING id`);
    expect(last).toEqual([{ id: `${(revision ?? 0n) + 1n}` }]);
  });
});
