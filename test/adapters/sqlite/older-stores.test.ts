/** Opens, migrates and refuses stores of earlier releases. */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  examineSqliteStore,
  openSqliteStorage,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { createStoreOf30, DAY, insertPetOf30, RECORD_OF_3_0 } from '../../support/older-store.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';

/** The columns and the indexes of all tables. */
function columnsOf(path: string): unknown[] {
  const COLUMNS = `SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
      FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main'
    UNION ALL SELECT t.name, i.name, c.name, c.seqno, c.desc, c.coll
      FROM pragma_table_list t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c WHERE t.schema = 'main' ORDER BY 1, 2, 3`;
  return connect(path).prepare(COLUMNS).raw().all();
}

describe.each([1, 3, 5])('a store with schema version %i, of a release before 3.0', (version) => {
  const ADVICE = `has schema version ${version}, which is of a release before 3.0: start animal-store 3.0.0`;

  test('is refused with advice, and stays unchanged', () => {
    const path = temporaryFile();
    createStoreOf30(path, version).close();
    const before = readFileSync(path);
    for (const options of [{}, { readOnly: true }, { migration: 'never' }, { startWriter: false }] as const)
      expect(() => openSqliteStorage(path, options)).toThrow(ADVICE);
    const problems = [{ severity: 'error', message: expect.stringContaining(ADVICE) }];
    expect(examineSqliteStore(path)).toMatchObject({ exists: true, problems });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('is no backup to restore, and can be replaced by one', async () => {
    const [path, older, backup] = [temporaryFile(), temporaryFile(), temporaryFile()];
    const db = createStoreOf30(older, version);
    db.exec(insertPetOf30(1n));
    db.pragma('journal_mode = DELETE');
    db.close();
    await expect(restoreSqliteStore(path, older)).rejects.toThrow(ADVICE);
    await openStorage(path).backup?.(backup, {});
    await expect(restoreSqliteStore(older, backup)).rejects.toThrow('has 1 pet');
    expect(await restoreSqliteStore(older, backup, { overwrite: true })).toMatchObject({ revivedPets: 0 });
    // The ids go on after those of the older store.
    expect((await openStorage(older).pets.add(REX)).id).toBe(2n);
  });
});

test('a store of 3.0 has the columns and indexes of a new one when it is migrated', () => {
  const [path, created] = [temporaryFile(), temporaryFile()];
  createStoreOf30(path).close();
  const before = readFileSync(path);
  expect(() => openSqliteStorage(path, { readOnly: true })).toThrow('has schema version 6');
  expect(readFileSync(path).equals(before)).toBe(true);
  const warnings: string[] = [];
  const observer = { onWarning: (message: string) => warnings.push(message) };
  for (const each of [path, path, created]) openStorage(each, { observer });
  expect(warnings).toEqual([
    expect.stringMatching(/^the schema was migrated from version 6 to \d+: earlier/),
  ]);
  expect(columnsOf(path)).toEqual(columnsOf(created));
});

test('a store of 3.0 is migrated by a command only while no other process has it open, and never by one that reads', () => {
  const path = temporaryFile();
  const server = createStoreOf30(path);
  server.prepare('SELECT * FROM pets').all();
  expect(() => openStorage(path, { migration: 'alone' })).toThrow('another process has the store open');
  server.close();
  expect(() => openStorage(path, { migration: 'never' })).toThrow('use the release that wrote it');
  expect(examineSqliteStore(path).schemaVersion).toBe(6);
  openStorage(path, { migration: 'alone' });
  expect(examineSqliteStore(path).schemaVersion).toBe(SCHEMA_VERSION);
});

test('a backup of 3.0 is restored and migrated, and invalid pets in it are kept, read as stored, and named', async () => {
  const [path, backup] = [temporaryFile(), temporaryFile()];
  const db = createStoreOf30(backup);
  db.exec(`PRAGMA ignore_check_constraints = ON; ${insertPetOf30(1n)};
    INSERT INTO pets VALUES (3, '', 1, 'sold'), (4, 'Max', 1, 'lost');
    ALTER TABLE pets ADD COLUMN colour TEXT; UPDATE pets SET colour = 'red'`);
  db.pragma('journal_mode = DELETE');
  db.close();
  await restoreSqliteStore(path, backup);
  const named = [3, 4].map((id) => ({ message: expect.stringContaining(`pet ${id} was`) }));
  expect(examineSqliteStore(path)).toMatchObject({ schemaVersion: 6, problems: named });
  const storage = openStorage(path);
  expect(await storage.pets.find(3n)).toMatchObject({ name: '' });
  expect((await storage.pets.add(REX)).id).toBe(5n);
  expect(examineSqliteStore(path)).toMatchObject({ isSound: true, pets: 4, problems: named });
  expect(connect(path).prepare('SELECT count(*) FROM pets WHERE colour IS NOT NULL').pluck().get()).toBe(3n);
});

test('creates of 3.0 are replayed after the upgrade, and by a server of 3.0 beside the new one', async () => {
  const path = temporaryFile();
  const server = createStoreOf30(path);
  const record = server.prepare(RECORD_OF_3_0);
  const found = 'SELECT pets.* FROM idempotency_records JOIN pets ON pet_id = pets.id WHERE key = ?';
  server.exec(insertPetOf30(1n));
  record.run('before', 1, Date.now() + DAY);
  expect(examineSqliteStore(path)).toMatchObject({ schemaVersion: 6, pets: 1, lastId: 1n, problems: [] });
  const { idempotentCreates, changes } = openStorage(path);
  const create = (key: string) => idempotentCreates.add(REX, { caller: '1', key, validFor: DAY });
  expect(await create('before')).toMatchObject({ pet: { id: 1n, name: 'Rex' }, isReplay: true });
  // The server of 3.0 makes a record, renews one of the new server, and reads one.
  server.exec(insertPetOf30(2n));
  record.run('beside', 2, Date.now() + DAY);
  expect(await create('beside')).toMatchObject({ pet: { id: 2n, name: 'Rex' }, isReplay: true });
  const { pet } = await create('new');
  expect(server.prepare(found).get('new')).toMatchObject({ id: pet.id, name: REX.name });
  server.exec(`UPDATE idempotency_records SET valid_until = 1 WHERE key = 'new'; ${insertPetOf30(9n)}`);
  record.run('new', 9, Date.now() + DAY);
  expect(await create('new')).toMatchObject({ pet: { id: 9n, name: 'Rex' }, isReplay: true });
  const revision = await changes.replace({ ...pet, name: 'Max' }, pet.id);
  expect((revision ?? 0n) > 9n).toBe(true);
  server.exec(insertPetOf30());
  expect(server.prepare('SELECT max(id) FROM pets').pluck().get()).toBe((revision ?? 0n) + 1n);
});
