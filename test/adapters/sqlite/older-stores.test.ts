/** Stores of earlier releases, which their own migrations have made. */

import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  examineSqliteStore,
  openSqliteStorage,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import {
  createOlderStore,
  createStoreOf30,
  DAY,
  insertPetOf30,
  RECORD_OF_3_0,
} from '../../support/older-store.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';

const REX_OF_OLD = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' } as const;

/** The columns and the indexes of all tables. */
function columnsOf(path: string): unknown[] {
  const COLUMNS = `SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
      FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main'
    UNION ALL SELECT t.name, i.name, c.name, c.seqno, c.desc, c.coll
      FROM pragma_table_list t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c WHERE t.schema = 'main' ORDER BY 1, 2, 3`;
  return connect(path).prepare(COLUMNS).raw().all();
}

describe.each([1, 2, 3, 4, 5])('a store with schema version %i', (version) => {
  test('is examined, and migrated: nothing is lost, and a retried create is replayed', async () => {
    const path = temporaryFile();
    createOlderStore(path, version).close();
    const known = { schemaVersion: version, supportedSchemaVersion: SCHEMA_VERSION, pets: 1, lastId: 5n };
    expect(examineSqliteStore(path)).toMatchObject({ ...known, isSound: true, problems: [] });
    const before = readFileSync(path);
    expect(() => openSqliteStorage(path, { readOnly: true })).toThrow(`has schema version ${version}`);
    expect(readFileSync(path).equals(before)).toBe(true);
    const { pets, apiKeys, idempotentCreates } = openStorage(path);
    expect((await pets.list({ limit: 2 })).pets).toMatchObject([REX_OF_OLD]);
    const reader = version < 5 ? [] : [{ name: 'reader', isReadOnly: true }];
    expect(await apiKeys.list()).toMatchObject([{ name: 'old', isReadOnly: false }, ...reader]);
    if (version >= 2) {
      onTestFinished(() => void vi.useRealTimers());
      vi.setSystemTime(11 * DAY);
      const attempt = { caller: '1', key: 'key', validFor: DAY };
      expect(await idempotentCreates.add(REX, attempt)).toMatchObject({ pet: REX_OF_OLD, isReplay: true });
      vi.setSystemTime(11 * DAY + 1);
      const late = await idempotentCreates.add(REX, attempt);
      expect(late).toMatchObject({ pet: { id: 6n }, isReplay: false });
    } else expect((await pets.add(REX)).id).toBe(6n);
    // 1.0, 2.0 and the builds after it refuse this version.
    expect(examineSqliteStore(path)).toMatchObject({ schemaVersion: SCHEMA_VERSION, problems: [] });
    const created = temporaryFile();
    openStorage(created);
    expect(columnsOf(path)).toEqual(columnsOf(created));
  });

  test('is migrated by a command only while no other process has it open, and never by one that reads', () => {
    const path = temporaryFile();
    const server = createOlderStore(path, version);
    server.pragma('journal_mode = WAL');
    server.prepare('SELECT * FROM pets').all();
    expect(() => openStorage(path, { migration: 'alone' })).toThrow('another process has the store open');
    server.close();
    expect(() => openStorage(path, { migration: 'never' })).toThrow('use the release that wrote it');
    expect(examineSqliteStore(path).schemaVersion).toBe(version);
    openStorage(path, { migration: 'alone' });
    expect(examineSqliteStore(path).schemaVersion).toBe(SCHEMA_VERSION);
  });

  test('is opened when a backup of it was restored', async () => {
    const [path, backup] = [temporaryFile(), temporaryFile()];
    const db = createOlderStore(backup, version);
    db.pragma('journal_mode = DELETE');
    db.close();
    await restoreSqliteStore(path, backup);
    expect((await openStorage(path).pets.list({ limit: 2 })).pets).toMatchObject([REX_OF_OLD]);
  });
});

test('pets that broke a rule before are kept, read as stored, and named', async () => {
  const path = temporaryFile();
  const db = createOlderStore(path, 3);
  db.exec("INSERT INTO pets VALUES (3, '', 1, 'sold'), (4, 'Max', 1, 'lost')");
  db.exec("ALTER TABLE pets ADD COLUMN colour TEXT; UPDATE pets SET colour = 'red'");
  db.close();
  const named = [
    { message: expect.stringContaining('pet 3 was') },
    { message: expect.stringContaining('pet 4 was') },
  ];
  expect(examineSqliteStore(path).problems).toMatchObject(named);
  const storage = openSqliteStorage(path);
  expect(await storage.pets.find(3n)).toMatchObject({ name: '' });
  expect((await storage.pets.add(REX)).id).toBe(6n);
  await storage.close();
  expect(examineSqliteStore(path)).toMatchObject({ isSound: true, pets: 4, problems: named });
  await openStorage(path).pets.add(REX);
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
