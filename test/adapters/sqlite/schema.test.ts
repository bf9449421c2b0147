/** Stores of earlier releases, which their own migrations have made. */

import type Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import {
  examineSqliteStore,
  openSqliteStorage,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/index.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';

const DAY = 24 * 60 * 60 * 1000;

/** What builds between 2.0 and 3.0 added to the schema of 2.0. */
const UNRELEASED = [
  `CREATE TRIGGER pets_rules_of_new_rows AFTER INSERT ON pets WHEN NOT NEW.id > 0 BEGIN SELECT RAISE(ABORT, 'x'); END;
   CREATE TRIGGER pets_rules_of_changed_rows AFTER UPDATE ON pets WHEN NOT NEW.id > 0 BEGIN SELECT RAISE(ABORT, 'x'); END;`,
  `ALTER TABLE api_keys ADD COLUMN is_read_only INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE idempotency_promises (days INTEGER PRIMARY KEY, ends_at INTEGER NOT NULL) STRICT;
   CREATE TABLE verified_backup (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), made_at INTEGER NOT NULL) STRICT;`,
];

/** Creates a store as a release with this schema version did, with two pets, two keys and a record. */
function createStore(path: string, version: number): Database.Database {
  const db = connect(path);
  db.pragma('journal_mode = WAL');
  for (const migration of [...MIGRATIONS.slice(0, 3), ...UNRELEASED].slice(0, version)) db.exec(migration);
  db.exec(`INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 7, 'sold'), (5, 'gone', 7, 'sold');
    DELETE FROM pets WHERE id = 5;
    INSERT INTO api_keys (hash, name, hint, created_at) VALUES (x'00', 'old', 'p', 1)`);
  if (version >= 2) db.exec(`INSERT INTO idempotency_records VALUES ('1', 'key', 1, ${10 * DAY})`);
  if (version >= 5)
    db.exec(
      "INSERT INTO api_keys (hash, name, hint, created_at, is_read_only) VALUES (x'01', 'reader', 'p', 1, 1)",
    );
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${version}`);
  return db;
}

const REX_OF_OLD = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' } as const;

describe.each([1, 2, 3, 4, 5])('a store with schema version %i', (version) => {
  test('is examined, and migrated: nothing is lost, and a retried create is replayed', async () => {
    const path = temporaryFile();
    createStore(path, version).close();
    const known = { schemaVersion: version, supportedSchemaVersion: SCHEMA_VERSION, pets: 1, lastId: 5n };
    expect(examineSqliteStore(path)).toMatchObject({ ...known, isSound: true, problems: [] });
    const { pets, apiKeys, idempotentCreates } = openStorage(path);
    expect((await pets.list({ limit: 2 })).pets).toEqual([REX_OF_OLD]);
    const reader = version < 5 ? [] : [{ name: 'reader', isReadOnly: true }];
    expect(await apiKeys.list()).toMatchObject([{ name: 'old', isReadOnly: false }, ...reader]);
    if (version >= 2) {
      const attempt = { caller: '1', key: 'key', at: 11 * DAY, validUntil: 12 * DAY };
      expect(await idempotentCreates.add(REX, attempt)).toEqual({ pet: REX_OF_OLD, isReplay: true });
      const late = await idempotentCreates.add(REX, { ...attempt, at: 11 * DAY + 1 });
      expect(late).toMatchObject({ pet: { id: 6n }, isReplay: false });
    } else expect((await pets.add(REX)).id).toBe(6n);
    // 1.0, 2.0 and the builds after it refuse this version.
    expect(examineSqliteStore(path)).toMatchObject({ schemaVersion: 6, problems: [] });
  });

  test('is opened when a backup of it was restored', async () => {
    const [path, backup] = [temporaryFile(), temporaryFile()];
    const db = createStore(backup, version);
    db.pragma('journal_mode = DELETE');
    db.close();
    await restoreSqliteStore(path, backup);
    expect((await openStorage(path).pets.list({ limit: 2 })).pets).toEqual([REX_OF_OLD]);
  });
});

test('a new store has no pet, so that it accepts ids, and refuses pets of other programs that break a rule', async () => {
  const path = temporaryFile();
  const { pets, transfer } = openStorage(path);
  const batches = (async function* () {
    yield [{ ...REX, id: 7n }];
  })();
  await transfer.importPets(batches, { onDuplicateId: () => {} });
  expect(await pets.find(7n)).toBeDefined();
  const insert = connect(path).prepare('INSERT INTO pets VALUES (?, ?, 1, ?)');
  for (const [id, name, status] of [
    [0n, 'Rex', 'sold'],
    [8n, '', 'sold'],
    [8n, '🐈'.repeat(256), 'sold'],
    [8n, 'a\0b', 'sold'],
    [8n, 'Rex', 'lost'],
  ]) {
    expect(() => insert.run(id, name, status)).toThrow('CHECK constraint failed: pet_rules');
  }
  insert.run(8n, '🐈'.repeat(255), 'pending');
});

test('pets that broke a rule before are kept, read as stored, and named', async () => {
  const path = temporaryFile();
  const db = createStore(path, 3);
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
