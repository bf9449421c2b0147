import fs, { readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { examineSqliteBackup, examineSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { SPOIL } from '../../support/pets.ts';
import { replaceFs, systemError } from '../../support/replace-fs.ts';
import { connect } from '../../support/sqlite.ts';
import { bytesOf, execute, newStore, openStorage, REX, temporaryFile } from './temporary-file.ts';

/** Returns the message of the only problem of a store, which is an error. */
function errorIn(path: string): string {
  const { problems } = examineSqliteStore(path);
  expect(problems).toEqual([{ severity: 'error', message: expect.any(String) }]);
  return problems[0]?.message ?? '';
}

test('a sound store, which a server has open, is counted and not changed', async () => {
  const path = newStore(3);
  const storage = openStorage(path);
  await storage.pets.add(REX);
  const key = await storage.apiKeys.add('a', { name: 'a', prefix: 'a', createdAt: 1 });
  await storage.apiKeys.add('b', { name: 'b', prefix: 'b', createdAt: 1 });
  await storage.apiKeys.revoke(key.id, 2);
  await storage.idempotentCreates.add(REX, { caller: 'a', key: 'k', validFor: 1 });
  const files = readdirSync(dirname(path)).map((name) => [name, bytesOf(`${dirname(path)}/${name}`)]);
  const link = temporaryFile();
  symlinkSync(path, link);
  expect(examineSqliteStore(link)).toEqual({
    location: path,
    exists: true,
    schemaVersion: SCHEMA_VERSION,
    supportedSchemaVersion: SCHEMA_VERSION,
    isSound: true,
    bytes: statSync(path).size + statSync(`${path}-wal`).size,
    freeBytes: expect.any(Number),
    pets: 5,
    lastId: 5n,
    apiKeys: { total: 2, active: 1 },
    idempotencyRecords: 1,
    problems: [],
  });
  for (const [name, bytes] of files.filter(([name]) => !name?.endsWith('-shm')))
    expect(bytesOf(`${dirname(path)}/${name}`)).toBe(bytes);
});

test('a missing file is not created, and an empty one contains no store', () => {
  const path = temporaryFile();
  expect(examineSqliteStore(path)).toMatchObject({ exists: false });
  expect(errorIn(path)).toBe(`${path}: there is no such file: the start of a server creates it`);
  expect(readdirSync(dirname(path))).toEqual([]);
  writeFileSync(`${path}-journal`, 'the last writes');
  expect(errorIn(path)).toBe(`${path}: there is no such file: put it back, or restore a backup`);
  rmSync(`${path}-journal`);
  writeFileSync(`${path}-wal`, 'the last writes');
  expect(errorIn(path)).toMatch(/is missing, .*: move the same file back before any restart: see docs/);
  rmSync(`${path}-wal`);
  writeFileSync(path, '');
  const advice = 'restore a backup, or start a server to create one';
  expect(errorIn(path)).toBe(`${path}: the file contains no store: ${advice}`);
  writeFileSync(`${path}-wal`, 'the last writes');
  expect(errorIn(path)).toMatch(/-wal exists, but the database file is empty, .*before any restart/);
  expect(readdirSync(dirname(path))).toHaveLength(2);
});

test.each(
  [
    ['another database', 'PRAGMA application_id = 7', 'the file is the database of another application'],
    ['a newer release', `PRAGMA user_version = ${SCHEMA_VERSION + 1}`, 'use the release that wrote it'],
    ['a pet that breaks a rule', SPOIL, 'pet 1 was changed'],
  ].filter(([, sql]) => sql !== ''),
)('%s is an error', (_, sql, message) => {
  const path = newStore(1);
  execute(path, sql);
  expect(errorIn(path)).toContain(message);
});

test('a damaged store is found, and so is a damaged backup', () => {
  const path = newStore(2000);
  const bytes = Buffer.from(bytesOf(path), 'base64');
  writeFileSync(path, bytes.fill(0xa5, bytes.length - 5 * 4096, bytes.length - 4096));
  expect(examineSqliteStore(path)).toMatchObject({ isSound: false });
  expect(errorIn(path)).toMatch(/pets\.db: .*damaged/);
  expect(() => examineSqliteBackup(newStore(), path)).toThrow(`${path} is damaged`);
});

/** A page check reads this without an error. The type of stored names no longer is that of the column. */
const MISTYPED = `INSERT INTO api_keys (hash, name, hint, created_at) VALUES (x'00', 'n', 'p', 1); PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT', 'name INTEGER') WHERE name = 'api_keys'`;

test('a store whose rows do not fit its tables is damaged, and so is such a backup', () => {
  const path = newStore(1);
  connect(path).unsafeMode().exec(MISTYPED).close();
  expect(examineSqliteStore(path)).toMatchObject({ isSound: false });
  expect(errorIn(path)).toMatch(/the file is damaged: .*: restore a/);
  const damaged = `${path} is damaged: non-INTEGER value in api_keys.name`;
  expect(() => examineSqliteBackup(newStore(), path)).toThrow(damaged);
});

test('a store that lacks a table is damaged, and so is such a backup', () => {
  const path = newStore(1);
  execute(path, 'DROP TABLE epoch');
  expect(examineSqliteStore(path)).toMatchObject({ isSound: false });
  expect(errorIn(path)).toBe(`${path}: the file lacks the column epoch.only_row: restore a backup`);
  expect(() => examineSqliteBackup(newStore(), path)).toThrow(`${path} lacks the column epoch.only_row`);
});

test('the contents of a backup are told, and its files do not change', () => {
  const [path, backup] = [newStore(), newStore(3)];
  const found = { pets: 3, apiKeys: 0, lastId: 3n, problems: [] };
  expect(examineSqliteBackup(path, backup)).toEqual(found);
  expect(readdirSync(dirname(backup))).toEqual(['pets.db']);
  writeFileSync(`${backup}-wal`, 'the last writes');
  const message = 'is not a backup, but a store or a copy of its files';
  expect(() => examineSqliteBackup(path, backup)).toThrow(message);
  expect(() => examineSqliteBackup(path, path)).toThrow(`${path} belongs to the store`);
  expect(() => examineSqliteBackup(path, dirname(path))).toThrow(`${dirname(path)} is not a regular file`);
});

test('a file or a folder that this user may not write to is an error, as for a server', () => {
  const path = newStore();
  replaceFs('accessSync', () => {
    throw systemError('EACCES');
  });
  const message = (file: string) => `${file}: this user may not write to it`;
  const found = [path, dirname(path)].map((file) => ({ severity: 'error', message: message(file) }));
  expect(examineSqliteStore(path).problems).toEqual(found);
});

test('a folder that cannot be searched and a circle of links are problems, and a folder that cannot be listed is none', () => {
  const [path, link] = [newStore(2), temporaryFile()];
  symlinkSync(link, link);
  expect(errorIn(link)).toMatch(new RegExp(`^${link}: ELOOP`));
  const list = replaceFs('readdirSync', () => {
    throw systemError('EACCES');
  });
  expect(examineSqliteStore(path)).toMatchObject({ pets: 2, problems: [] });
  const stat = replaceFs('statSync', ((file: string, options: object) => {
    if (file.startsWith(path)) throw systemError('EACCES');
    return stat(file, options);
  }) as typeof statSync);
  expect(errorIn(path)).toBe(`${path}: EACCES`);
  expect(examineSqliteStore(path).exists).toBeUndefined();
  expect(list(dirname(path))).toEqual(['pets.db']);
});

test.each([
  [50, 'warning'],
  [5, 'error'],
])('%i MiB of free disk space are named: %s', (mebibytes, severity) => {
  const path = newStore();
  const spy = vi.spyOn(fs, 'statfsSync');
  spy.mockReturnValue({ bavail: mebibytes * 256, bsize: 4096 } as ReturnType<typeof fs.statfsSync>);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  const message = `the disk of ${dirname(path)} has only ${mebibytes} MiB left`;
  expect(examineSqliteStore(path).problems).toEqual([{ severity, message }]);
});
