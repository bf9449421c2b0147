import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openReader, openWriter, prepareDatabase } from '../../../src/adapters/sqlite/database.ts';
import type { StoreFiles } from '../../../src/adapters/sqlite/files.ts';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { APPLICATION_ID, migrationsOf, SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { temporaryFolder } from '../../support/process.ts';
import { replaceFs } from '../../support/replace-fs.ts';
import { connect } from '../../support/sqlite.ts';
import {
  bytesOf,
  execute,
  makeStore,
  newStore,
  openFiles,
  openStorage,
  REX,
  temporaryFile,
} from './temporary-file.ts';

function refusal(path: string, message: RegExp) {
  return expect.objectContaining({
    name: 'AnimalStoreError',
    code: 'storage_unavailable',
    message: expect.stringMatching(new RegExp(`${path}.*${message.source}`)),
  });
}

/** Expects that the file is refused, and not changed. */
function expectRefused(path: string, message: RegExp): void {
  const before = bytesOf(path);
  expect(() => openSqliteStorage(path)).toThrow(refusal(path, message));
  expect(bytesOf(path)).toBe(before);
}

test.each([
  ['a short text', 'hello'],
  ['a long text', 'hello, world\n'.repeat(10_000)],
  ['zeros', Buffer.alloc(8192)],
])('a file that has %s is refused, and not changed', (_, bytes) => {
  const path = temporaryFile();
  writeFileSync(path, bytes);
  expectRefused(path, /is not a SQLite database/);
});

test.each([
  'CREATE TABLE t (x)',
  'PRAGMA journal_mode = WAL; CREATE TABLE t (x)',
  'PRAGMA application_id = 7',
  'PRAGMA user_version = 1',
])('the database of another application is refused, and not changed: %s', (sql) => {
  const path = temporaryFile();
  execute(path, sql);
  expectRefused(path, /the file is the database of another application/);
});

test('a store of a newer release is refused, and not changed', () => {
  const path = newStore(3);
  const [newer, own] = [SCHEMA_VERSION + 1, SCHEMA_VERSION];
  execute(path, `PRAGMA user_version = ${newer}`);
  const versions = `the file has schema version ${newer}, this release supports ${own}`;
  expectRefused(path, new RegExp(`${versions}: use the release that wrote it, or a newer one$`));
});

test('a store that is replaced while it is opened is refused', () => {
  const [path, other] = [temporaryFile(), temporaryFile()];
  for (const each of [path, other]) makeStore(each, 3);
  const original = Database.prototype.defaultSafeIntegers;
  vi.spyOn(Database.prototype, 'defaultSafeIntegers').mockImplementationOnce(function (
    this: Database.Database,
  ) {
    renameSync(other, path);
    return original.call(this, true);
  });
  expect(() => openSqliteStorage(path)).toThrow(
    refusal(path, /the file was replaced while it was opened: start again/),
  );
});

describe('a damaged store', () => {
  test.each<[name: string, damage: (path: string) => void]>([
    [
      'a page was overwritten',
      (path) => overwrite(path, Math.floor(statSync(path).size / 8192) * 4096, Buffer.alloc(4096, 0xa5)),
    ],
    ['it was truncated', (path) => truncateSync(path, 3 * 4096)],
  ])('is refused when %s, and not changed', (_, damage) => {
    const path = newStore(2000);
    damage(path);
    expectRefused(path, /damaged/);
  });
});

describe('a path that cannot have a file', () => {
  test('a folder in the place of the file', () => {
    const path = temporaryFolder();
    expect(() => openSqliteStorage(path)).toThrow(refusal(path, /expected a file, got a directory/));
  });

  test('a file in the place of the folder', () => {
    const file = temporaryFile();
    writeFileSync(file, 'hello');
    const path = join(file, 'pets.db');
    expect(() => openSqliteStorage(path)).toThrow(refusal(path, /$/));
    expect(() => openSqliteStorage(join(path, 'pets.db'))).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: 'ENOTDIR' }) }),
    );
    expect(readFileSync(file, 'utf8')).toBe('hello');
  });
});

test('a store that another process has locked is refused, and opens when the lock is gone', async () => {
  const path = newStore(1);
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  for (const open of [openSqliteStorage, (each: string) => prepareDatabase(each)]) {
    expect(() => open(path)).toThrow(refusal(path, /locked by another process/));
  }
  other.exec('ROLLBACK');
  expect(await openStorage(path).pets.find(1n)).toBeDefined();
});

test('a new file whose journal mode another process changes is opened when the lock is gone', async () => {
  const path = temporaryFile();
  connect(path).exec('BEGIN IMMEDIATE; COMMIT');
  const other = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const db = new (require('better-sqlite3'))(workerData);
    db.exec('BEGIN IMMEDIATE');
    parentPort.postMessage('locked');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    db.exec('COMMIT');`,
    { eval: true, workerData: path },
  );
  await once(other, 'message');
  expect((await openStorage(path).pets.list({ limit: 1 })).pets).toEqual([]);
});

test('a first start creates the folders and a file with our application id', () => {
  const path = join(temporaryFolder(), 'a', 'b', 'pets.db');
  makeStore(path);
  const db = connect(path);
  expect(db.pragma('application_id', { simple: true })).toBe(APPLICATION_ID);
  expect(db.pragma('user_version', { simple: true })).toBe(BigInt(SCHEMA_VERSION));
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('an empty file becomes a new store, because an interrupted first start leaves one', async () => {
  const path = temporaryFile();
  writeFileSync(path, '');
  const { pets } = openStorage(path);
  expect(await pets.add(REX)).toMatchObject({ id: 1n });
});

test('an empty file with a write-ahead log is refused, and the log is not changed', () => {
  const path = temporaryFile();
  writeFileSync(path, '');
  writeFileSync(`${path}-wal`, 'the last writes');
  expect(() => openSqliteStorage(path)).toThrow(
    refusal(path, /the file is empty, but has a write-ahead log/),
  );
  expect(readFileSync(`${path}-wal`, 'utf8')).toBe('the last writes');
  writeFileSync(`${path}-wal`, '');
  openStorage(path);
});

test('an empty file in which another server creates the store at the same time is opened', async () => {
  const path = temporaryFile();
  writeFileSync(path, '');
  let isCreated = false;
  const stat = replaceFs('statSync', ((...[file, options]: Parameters<typeof statSync>) => {
    const stats = stat(file, options);
    if (file === path && !isCreated) {
      isCreated = true;
      const other = connect(path);
      other.pragma('journal_mode = WAL');
      for (const migration of migrationsOf(0)) other.exec(migration);
      other.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    return stats;
  }) as typeof statSync);
  expect(await openStorage(path).pets.list({ limit: 1 })).toEqual({ pets: [], more: false });
  expect(isCreated).toBe(true);
});

test('with `mustExist`, a missing file is refused and not created, and an existing file is opened', async () => {
  const path = join(temporaryFolder(), 'folder', 'pets.db');
  const open = () => openSqliteStorage(path, { mustExist: true });
  expect(open).toThrow(refusal(path, /there is no such file/));
  expect(open).toThrow(expect.objectContaining({ reason: 'file_missing' }));
  expect(existsSync(dirname(path))).toBe(false);
  makeStore(path, 1);
  const storage = open();
  expect(await storage.pets.find(1n)).toBeDefined();
  await storage.close();
});

test('without `tryWrite`, a new store is created, and an existing one is opened while it is locked', () => {
  const path = temporaryFile();
  prepareDatabase(path, { tryWrite: false });
  const other = connect(path);
  expect(other.pragma('user_version', { simple: true })).toBe(BigInt(SCHEMA_VERSION));
  other.exec('BEGIN IMMEDIATE');
  prepareDatabase(path, { tryWrite: false });
  other.exec('ROLLBACK');
});

test('a path with unusual characters is a path like any other', async () => {
  const folder = join(temporaryFolder(), `it's 100 % "new" & ?mode=memory#🐈`);
  mkdirSync(folder);
  const path = join(folder, 'file:pets.db');
  makeStore(path, 1);
  expect(existsSync(path)).toBe(true);
  expect(await openStorage(path).pets.find(1n)).toBeDefined();
});

test('every connection uses a write-ahead log, syncs each commit, and waits briefly for a lock', () => {
  const path = newStore();
  for (const open of [() => openFiles(path).db, () => openReader(path)]) {
    const db = open();
    const settings = ['journal_mode', 'synchronous', 'journal_size_limit', 'busy_timeout'];
    const values = settings.map((name) => db.pragma(name, { simple: true }));
    expect(values).toEqual(['wal', 2n, 16n * 1024n * 1024n, 100n]);
    db.close();
  }
});

describe('a connection for writing', () => {
  function openFileOf(path: string): StoreFiles {
    makeStore(path, 1);
    const { db, files } = openFiles(path);
    onTestFinished(() => void db.close());
    return files;
  }

  test('is refused when the file is missing', () => {
    const path = temporaryFile();
    const files = openFileOf(path);
    renameSync(path, `${path}.away`);
    expect(() => openWriter(files)).toThrow(expect.objectContaining({ reason: 'file_missing' }));
    expect(existsSync(path)).toBe(false);
  });

  test('is refused when the file is replaced while it is opened', () => {
    const [path, other] = [temporaryFile(), temporaryFile()];
    const files = openFileOf(path);
    makeStore(other, 1);
    whenPragmaRuns('synchronous = FULL', () => renameSync(other, path));
    expect(() => openWriter(files)).toThrow(expect.objectContaining({ reason: 'file_replaced' }));
  });
});

test('a database in memory is refused, because it is not durable', () => {
  for (const path of ['', ':memory:', ' :memory: ']) {
    const message = `path: expected the path of a file, got '${path}': openMemoryStorage opens a store in memory`;
    expect(() => openSqliteStorage(path)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message }),
    );
  }
  expect(existsSync(':memory:')).toBe(false);
});

/** Calls a function before the first pragma of any connection with this text. */
function whenPragmaRuns(text: string, act: () => void): void {
  const pragma = Database.prototype.pragma;
  const spy = vi.spyOn(Database.prototype, 'pragma');
  onTestFinished(() => spy.mockRestore());
  let isDone = false;
  spy.mockImplementation(function (this: Database.Database, ...args) {
    if (args[0] === text && !isDone) {
      isDone = true;
      act();
    }
    return pragma.apply(this, args);
  });
}

function overwrite(path: string, position: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}
