import { expect, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/postgres/schema.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { EXPECTED_TABLE, insertPet } from '../../support/pets.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { errorsIn, newStoreUrl } from './database.ts';
import { refusalOf } from './refusal.ts';

/** The server of the tests has settings that cause warnings. */
const NO_ERROR: unknown = expect.not.arrayContaining([expect.objectContaining({ severity: 'error' })]);

describePostgres('the examination of PostgreSQL', () => {
  test('counts what a store contains, and changes nothing', async () => {
    const url = await newDatabaseUrl();
    const storage = await openPostgresStorage(url);
    await storage.pets.add(samplePet('Rex'));
    await storage.idempotentCreates.add(samplePet('Max'), { caller: '1', key: 'a', validFor: 1 });
    const key = { prefix: 'p', createdAt: 1 };
    await storage.apiKeys.add('one', { ...key, name: 'active', expiresAt: undefined });
    await storage.apiKeys.add('two', { ...key, name: 'expired', expiresAt: 2 });
    const { id } = await storage.apiKeys.add('three', { ...key, name: 'revoked', expiresAt: undefined });
    await storage.apiKeys.revoke(id, 2);
    await storage.close();
    expect(await examinePostgresStore(url)).toEqual({
      location: expect.stringMatching(/^127\.0\.0\.1:\d+\/test_/),
      exists: true,
      schemaVersion: SCHEMA_VERSION,
      supportedSchemaVersion: SCHEMA_VERSION,
      pets: 2,
      apiKeys: { total: 3, active: 1 },
      idempotencyRecords: 1,
      bytes: expect.any(Number),
      problems: NO_ERROR,
    });
  });

  test('pets that break a rule are refused, and those that another program stored without the rules are named', async () => {
    const url = await newStoreUrl();
    const client = await connect(url);
    const values = EXPECTED_TABLE.filter(({ kind }) => !/boolean|timestamp/.test(kind))
      .flatMap(({ refused }) => refused)
      .filter((each) => !Object.values(each).includes(null));
    const invalid = [{ id: 0n }, ...values.map((each, index) => ({ ...each, id: BigInt(index + 1) }))];
    const insert = invalid.map((each) => insertPet(each));
    for (const sql of insert) await expect(client.query(sql)).rejects.toMatchObject({ code: '23514' });
    await client.query(`ALTER TABLE pets DROP CONSTRAINT pets_rules; ${insert.join('')}`);
    const { problems } = await examinePostgresStore(url);
    const named = problems.flatMap(({ message }) => /^pet \d+ .*: (\w+) must/.exec(message)?.[1] ?? []);
    expect(named).toEqual(['id', ...values.flatMap(Object.keys)].slice(0, 10));
  });

  test('a missing column hides no warning', async () => {
    const url = await newStoreUrl();
    const client = await connect(url);
    await client.query('ALTER TABLE pets SET UNLOGGED; ALTER TABLE api_keys RENAME hint TO other');
    const { problems } = await examinePostgresStore(url);
    const messages = problems.map(({ message }) => message).join('\n');
    expect(messages).toMatch(/UNLOGGED|unlogged/);
    expect(messages).toContain('column "hint" does not exist');
  });

  test('the start refuses what doctor names, and no message has the password', async () => {
    const other = await newDatabaseUrl();
    await (await connect(other)).query('CREATE TABLE pets (a integer)');
    const newer = await newStoreUrl();
    await (await connect(newer)).query('UPDATE animal_store_schema SET version = 99');
    const broken = await newStoreUrl();
    await (await connect(broken)).query('ALTER TABLE animal_store_schema RENAME epoch TO other');
    for (const [url, message] of [
      [other, /: the database has a table pets of another application$/],
      [newer, /: the database has schema version 99, this release supports \d+: /],
      [broken, /: the tables are not those of this release \(42703\): column "epoch" does not exist$/],
    ] as const) {
      expect(await refusalOf(url)).toMatch(message);
      expect((await examinePostgresStore(url)).exists).toBeUndefined();
      expect(await errorsIn(url)).toEqual([expect.stringMatching(message)]);
    }
  });
});
