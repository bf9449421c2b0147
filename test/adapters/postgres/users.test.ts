/** Stores in databases with the settings and privileges that occur in practice. */

import { expect, test } from 'vitest';
import type { Pet } from '../../../src/domain/pet.ts';
import { importPets } from '../../../src/testing/fixtures/transfers.ts';
import { insertPet } from '../../support/pets.ts';
import { connect, describePostgres } from '../../support/postgres/index.ts';
import {
  errorsIn,
  LABEL,
  named,
  newStoreUrl,
  newUser,
  newWriter,
  openStorage,
  openStore,
  REX,
  walk,
  withSetting,
} from './database.ts';
import { refusalOf } from './refusal.ts';

describePostgres('users of PostgreSQL', () => {
  test.each([
    ['rows that came without the sequence', ''],
    ['a sequence that was used before', "SELECT nextval('pets_id_seq'); SELECT nextval('api_keys_id_seq');"],
  ])(
    'a sequence behind the ids is named by doctor, and moved forward by the start: %s',
    async (_, before) => {
      const url = await newStoreUrl();
      const other = await connect(url);
      await other.query(`${before} ${insertPet({ id: 45n })}
      INSERT INTO api_keys (id, hash, name, hint, created_at) VALUES (7, 'x', 'old', 'p', 1)`);
      const errors = ['pets', 'api_keys'].map((table) =>
        expect.stringMatching(
          `^the sequence ${table}_id_seq is behind the ids of ${table}: run SELECT setval`,
        ),
      );
      expect(await errorsIn(url)).toEqual(errors);
      const storages = await Promise.all([openStorage(url), openStorage(url)]);
      for (const storage of storages) expect((await storage.pets.add(REX)).id).toBeGreaterThan(45n);
      const key = await storages[0]?.apiKeys.add('key', { name: 'ci', prefix: 'x', createdAt: 1 });
      expect(Number(key?.id)).toBeGreaterThan(7);
      expect(await errorsIn(url)).toEqual([]);
      // A sequence is never moved backward.
      await other.query('ALTER SEQUENCE pets_id_seq RESTART 1000');
      expect((await (await openStorage(url)).pets.add(REX)).id).toBeGreaterThanOrEqual(1000n);
    },
  );

  test('a user that may not move a sequence gets a warning with the statement to run', async () => {
    const { store, url, admin } = await newWriter();
    await admin.query(insertPet({ id: 45n }));
    const open = async (of: string): Promise<readonly string[]> => {
      const warnings: string[] = [];
      await openStorage(of, { observer: { onWarning: (message) => warnings.push(message) } });
      return warnings.filter((message) => message.includes('sequence'));
    };
    const readOnly = withSetting(store, 'default_transaction_read_only', 'on');
    const [warning = ''] = await open(url);
    expect(await open(readOnly)).toEqual([warning]);
    const [, statement = ''] = /: run (SELECT .*)$/.exec(warning) ?? [];
    await admin.query(statement);
    expect(await open(url)).toEqual([]);
    expect((await (await openStorage(url)).pets.add(REX)).id).toBe(46n);
  });

  test.each([
    ['ALTER TABLE pets SET UNLOGGED', 'pets is UNLOGGED: a crash of the database server empties it'],
    ['CREATE TABLE more () INHERITS (pets)', 'pets has a parent, children or partitions'],
    [
      'ALTER TABLE pets RENAME TO all_pets; CREATE VIEW pets AS SELECT * FROM all_pets WHERE id > 1',
      'pets has a parent, children or partitions, or is a view',
    ],
    [
      'CREATE TABLE base (LIKE idempotency_records); ALTER TABLE idempotency_records INHERIT base',
      'idempotency_records has a parent, children or partitions',
    ],
  ])('the start and doctor refuse a table by name: %s', async (sql, message) => {
    const url = await newStoreUrl();
    await (await connect(url)).query(sql);
    expect(await refusalOf(url)).toContain(message);
    expect(await errorsIn(url)).toContainEqual(expect.stringContaining(message));
  });

  test('columns, indexes, views, triggers, tables and quote_all_identifiers of an operator are accepted', async () => {
    const url = withSetting(await newStoreUrl(), 'quote_all_identifiers', 'on');
    const other = await connect(url);
    await other.query(`ALTER TABLE pets ADD COLUMN _note text; CREATE INDEX by_name ON pets (${LABEL});
      CREATE VIEW sold AS SELECT * FROM pets WHERE id > 1;
      CREATE TABLE notes (id bigint REFERENCES pets (id) ON DELETE CASCADE);
      CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER audit AFTER INSERT ON pets FOR EACH ROW EXECUTE FUNCTION audit()`);
    const storage = await openStorage(url);
    expect(await storage.pets.find((await storage.pets.add(REX)).id)).toEqual({ id: 1n, ...REX });
    expect(await errorsIn(url)).toEqual([]);
  });

  test('a database that is read-only serves reads and keys, also from the start on', async () => {
    const { url, storage } = await openStore();
    await storage.pets.add(REX);
    const about = { name: 'ci', prefix: 'x', createdAt: 1 };
    await storage.apiKeys.add('key', about);
    const readOnly = withSetting(url, 'default_transaction_read_only', 'on');
    const reader = await openStorage(readOnly);
    expect(await walk(reader)).toMatchObject([REX]);
    for await (const pets of reader.transfer.exportPets()) expect(pets).toMatchObject([REX]);
    expect(await reader.apiKeys.list()).toHaveLength(1);
    await expect(reader.check()).rejects.toMatchObject({ reason: 'read_only' });
    expect(await reader.apiKeys.addFirst('first', about)).toBeUndefined();
    await expect(reader.pets.add(named('lost'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      reason: 'read_only',
      message: 'the database accepts no writes (25006)',
    });
    await expect(reader.check()).rejects.toMatchObject({ reason: 'read_only' });
    expect(await walk(reader)).toMatchObject([REX]);
    expect(await errorsIn(readOnly)).toEqual([
      expect.stringMatching(/^the database accepts no writes, because default_transaction_read_only is on/),
    ]);
  });

  test('time limits of a role end no export and no import', async () => {
    const { url, username, admin } = await newUser();
    for (const name of ['idle_in_transaction_session_timeout', 'transaction_timeout', 'idle_session_timeout'])
      await admin.query(`ALTER ROLE ${username} SET ${name} = 300`);
    await admin.query(`ALTER ROLE ${username} SET statement_timeout = 300`);
    const storage = await openStorage(url);
    const pause = () => admin.query('SELECT pg_sleep(0.4)');
    const slow = async function* () {
      for (let count = 0; count < 2; count++) {
        yield [REX];
        await pause();
      }
    };
    expect(await importPets(storage, slow())).toBe(2);
    const exported: Pet[] = [];
    for await (const pets of storage.transfer.exportPets()) {
      exported.push(...pets);
      await pause();
    }
    expect(exported).toHaveLength(2);
  });
});
