/** Another program removes or changes tables of a store. */

import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openSqliteStorage, restoreSqliteStore } from '../../../../src/adapters/sqlite/index.ts';
import { examineSqliteStore } from '../../../../src/adapters/sqlite/maintenance/examination.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../../../src/adapters/sqlite/schema.ts';
import { createAnimalStore } from '../../../../src/library/index.ts';
import { startServer } from '../../../support/server.ts';
import { connect } from '../../../support/sqlite.ts';
import { commandLine } from '../../cli/cli.ts';
import { bytesOf, newStore, openStorage, REX, temporaryFile } from '../temporary-file.ts';
import { controlClock, openWatched, passInterval } from '../watched-storage.ts';

const DAMAGED = { code: 'storage_unavailable', reason: 'damaged' };

const changes = [
  'DROP TABLE pets',
  'ALTER TABLE pets RENAME TO animals',
  'ALTER TABLE pets RENAME COLUMN name TO title',
];

function changedStore(sql: string): string {
  const path = newStore(3);
  const other = connect(path);
  other.exec(sql);
  other.close();
  return path;
}

describe.each(changes)('%s', (sql) => {
  test('while the store is open: reads and writes reject, and the store is not ready', async () => {
    controlClock();
    const { storage, path, states } = await openWatched();
    connect(path).exec(sql);
    await passInterval();
    await expect(storage.pets.find(1n)).rejects.toMatchObject(DAMAGED);
    await expect(storage.pets.list({ limit: 10 })).rejects.toMatchObject(DAMAGED);
    await expect(storage.pets.add(REX)).rejects.toMatchObject(DAMAGED);
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
    expect(states).toEqual(['damaged']);
  });

  test('before the start: the store is refused and not changed, and `doctor` names the reason', () => {
    const path = changedStore(sql);
    const before = bytesOf(path);
    const message = 'another program has changed the tables of the store (';
    expect(() => openSqliteStorage(path)).toThrow(`${path}: ${message}`);
    expect(bytesOf(path)).toBe(before);
    const { isSound, problems } = examineSqliteStore(path);
    expect(isSound).toBe(false);
    expect(problems.map((problem) => problem.message).join()).toContain(message);
  });
});

/** Each of these lets writes go on, but without their effect or without their order. */
describe.each([
  'CREATE TRIGGER swallow AFTER INSERT ON pets BEGIN DELETE FROM pets WHERE id = NEW.id; END',
  'CREATE TRIGGER Skip BEFORE UPDATE ON "API_KEYS" BEGIN SELECT RAISE(IGNORE); END',
  'DROP TRIGGER pets_rules_of_new_rows',
  'DROP INDEX pets_by_status',
  'DROP INDEX idempotency_records_by_age',
  'ALTER TABLE pets RENAME TO real; CREATE VIEW pets AS SELECT * FROM real',
])('%s', (sql) => {
  test('while the store is open: no write is acknowledged', async () => {
    controlClock();
    const { storage, path } = await openWatched();
    connect(path).exec(sql);
    await expect(storage.pets.add(REX)).rejects.toMatchObject(DAMAGED);
    await passInterval();
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
  });

  test('before the start, in a backup, and for `doctor`: the change is named', async () => {
    const [path, store] = [changedStore(sql), temporaryFile()];
    const [, name] = /(?:TRIGGER|INDEX|RENAME TO) (\w+)/.exec(sql) as unknown as [string, string];
    const message = new RegExp(`another program has changed the tables .*(${name}|pets)`, 'i');
    expect(() => openSqliteStorage(path)).toThrow(message);
    await expect(restoreSqliteStore(store, path)).rejects.toThrow(message);
    expect(existsSync(store)).toBe(false);
    expect(examineSqliteStore(path).problems).toContainEqual({
      severity: 'error',
      message: expect.stringMatching(message),
    });
  });
});

test('columns, indexes, views and triggers for the own use of an operator are accepted', async () => {
  const path = newStore(3);
  connect(path).exec(`ALTER TABLE pets ADD COLUMN note TEXT; CREATE INDEX by_name ON pets (name);
    CREATE VIEW sold AS SELECT * FROM pets WHERE status = 'sold'; CREATE TABLE notes (id INTEGER PRIMARY KEY);
    CREATE TRIGGER note AFTER INSERT ON notes BEGIN DELETE FROM notes; END`);
  expect(examineSqliteStore(path)).toMatchObject({ isSound: true, problems: [] });
  expect(await openStorage(path).pets.add(REX)).toMatchObject({ id: 4n });
});

test('pets that another program changed before the schema had the rules are named, and later ones are refused', async () => {
  const path = temporaryFile();
  const other = connect(path);
  for (const migration of MIGRATIONS.slice(0, 3)) other.exec(migration);
  other.pragma(`application_id = ${APPLICATION_ID}`);
  other.pragma('user_version = 3');
  const insert = other.prepare('INSERT OR REPLACE INTO pets VALUES (?, ?, 7, ?)');
  const invalid = [
    [0, 'Rex', 'sold'],
    [1, '', 'sold'],
    [2, 'x'.repeat(256), 'sold'],
    [3, 'nul\0', 'sold'],
    [4, 'Max', 'So"ld'],
  ];
  for (const values of invalid) insert.run(...values);
  insert.run(5, '🐈'.repeat(255), 'sold');
  const named = ['0', 'id', '1', 'name', '2', 'name', '3', 'name', '4', 'status'];
  const found = (text: string) =>
    [...text.matchAll(/pet (\d+).*?: (id|name|status) must/g)].flatMap((match) => match.slice(1));
  const cli = commandLine(path);
  const exported = await cli.run(['export']);
  expect(exported.status).toBe(0);
  expect(exported.out.split('\n')).toHaveLength(7);
  expect(found(exported.err)).toEqual(named);
  const { schemaVersion, isSound, problems } = examineSqliteStore(path);
  expect([schemaVersion, isSound]).toEqual([MIGRATIONS.length, true]);
  expect(found(problems.map(({ message }) => message).join('\n'))).toEqual(named);
  for (const values of invalid) expect(() => insert.run(...values)).toThrow('breaks the rules');
  expect(() => other.exec("UPDATE pets SET status = 'Sold' WHERE id = 5")).toThrow('breaks the rules');
  const restored = await commandLine().run(['restore', path]);
  expect(found(restored.err)).toEqual(named);
  const server = await startServer('memory', { wrap: () => openStorage(path) });
  const ofServer = commandLine('', {
    openStore: () => createAnimalStore({ database: `${server.origin}/v1`, apiKey: server.key }),
    storeFiles: async () => [],
    isServer: async () => true,
  });
  const fromServer = await ofServer.run(['export']);
  expect([fromServer.status, fromServer.out]).toEqual([0, exported.out]);
  expect(found(fromServer.err)).toEqual(named);
  expect(await ofServer.run(['pets', 'list', '--all', '--json'])).toEqual(
    await cli.run(['pets', 'list', '--all', '--json']),
  );
});
