import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openReader, openWriter } from '../../../src/adapters/sqlite/database.ts';
import { filesOf } from '../../../src/adapters/sqlite/files.ts';
import {
  examineSqliteBackup,
  examineSqliteStore,
  openSqliteStorage,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { IS_SHORT } from '../../support/extent.ts';
import { temporaryFolder } from '../../support/process.ts';
import { replaceFs, systemError } from '../../support/replace-fs.ts';
import { canMount, mountNote, SmallDisk } from '../../support/small-disk.ts';
import { connect } from '../../support/sqlite.ts';
import {
  bytesOf,
  countIn,
  execute,
  makeStore,
  newStore,
  openStorage,
  REX,
  temporaryFile,
} from './temporary-file.ts';
import { startedThreads } from './warm-storage.ts';

function refusal(path: string, message: RegExp) {
  const expected = expect.stringMatching(new RegExp(`${path}.*${message.source}`));
  return expect.objectContaining({
    name: 'AnimalStoreError',
    code: 'storage_unavailable',
    message: expected,
  });
}

const lacking = (column: string) => new RegExp(`: the file lacks the column ${column}: restore a backup$`);
const OTHER = /the file is the database of another application/;

test.each<[name: string, change: (path: string) => void, message: RegExp]>([
  ['is a text', (path) => writeFileSync(path, 'hello, world\n'.repeat(10_000)), /is not a SQLite database/],
  ['has zeros', (path) => writeFileSync(path, Buffer.alloc(8192)), /is not a SQLite database/],
  ['has the mark of another application', (path) => execute(path, 'PRAGMA application_id = 7'), OTHER],
  [
    'has tables of another application',
    (path) => {
      writeFileSync(path, '');
      execute(path, 'PRAGMA journal_mode = WAL; CREATE TABLE t (x)');
    },
    OTHER,
  ],
  [
    'has a newer schema',
    (path) => execute(path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`),
    /schema version \d+, this release supports \d+: use the release that wrote it, or a newer one$/,
  ],
  ['has a damaged page', (path) => overwrite(path, Buffer.alloc(4096, 0xa5)), /damaged/],
  ['was truncated', (path) => truncateSync(path, 3 * 4096), /damaged/],
  ['lacks a table', (path) => execute(path, 'DROP TABLE epoch'), lacking('epoch.only_row')],
  [
    'lacks a column',
    (path) => execute(path, 'ALTER TABLE idempotency_records RENAME response TO other'),
    lacking('idempotency_records.response'),
  ],
])('a file that %s is refused, and not changed', (_, change, message) => {
  const path = newStore(2000);
  change(path);
  const before = bytesOf(path);
  const started = startedThreads();
  expect(() => openSqliteStorage(path)).toThrow(refusal(path, message));
  expect(bytesOf(path)).toBe(before);
  expect(started).toEqual([]);
});

test('a start that fails late leaves neither a connection nor a thread behind', () => {
  const path = newStore();
  const started = startedThreads();
  const original = replaceFs('statSync', ((file, options) => {
    if (String(file).endsWith('-shm')) throw systemError('EACCES');
    return original(file, options);
  }) as typeof statSync);
  for (const options of [{}, { readOnly: true }])
    expect(() => openSqliteStorage(path, options)).toThrow(refusal(path, /EACCES/));
  // The last connection removes the log.
  expect([existsSync(`${path}-wal`), started]).toEqual([false, []]);
});

test('a store that another process has locked is refused, and opens when the lock is gone', {
  skip: IS_SHORT,
}, async () => {
  const path = newStore(1);
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  expect(() => openSqliteStorage(path)).toThrow(refusal(path, /locked by another process/));
  other.exec('ROLLBACK');
  expect(await openStorage(path).pets.find(1n)).toBeDefined();
});

test.each([
  ['an empty', 'the last writes', ''],
  ['a missing', 'the last writes', undefined],
  // A server that has written nothing yet has such a log.
  ['a missing', '', undefined],
])('%s file with the write-ahead log "%s" is refused, and nothing is changed', (_, log, file) => {
  const [path, link] = [temporaryFile(), temporaryFile()];
  symlinkSync(path, link);
  if (file !== undefined) writeFileSync(path, file);
  writeFileSync(`${path}-wal`, log);
  const before = readdirSync(dirname(path));
  const message =
    /-wal exists, but the database file is (empty|missing), .*: move the same file back before any restart/;
  for (const option of [{}, { mustExist: true }, { readOnly: true }]) {
    expect(() => openSqliteStorage(path, option)).toThrow(refusal(path, message));
    expect(() => openSqliteStorage(link, option)).toThrow(refusal(path, message));
  }
  expect(readdirSync(dirname(path))).toEqual(before);
  expect(readFileSync(`${path}-wal`, 'utf8')).toBe(log);
});

test('a missing file with a rollback journal is not created, because the journal can repair the file that is away', () => {
  const [path, link] = [temporaryFile(), temporaryFile()];
  symlinkSync(path, link);
  writeFileSync(`${path}-journal`, 'the pages before a crash');
  const message = /-journal lacks its file: put the file back, or restore a backup$/;
  for (const each of [path, link]) expect(() => openSqliteStorage(each)).toThrow(refusal(path, message));
  expect(readdirSync(dirname(path))).toEqual(['pets.db-journal']);
  expect(readFileSync(`${path}-journal`, 'utf8')).toBe('the pages before a crash');
});

test.each([
  ['-wal', ''],
  ['-journal', '\0'.repeat(512)],
])(
  'an empty file and the %s that an interrupted first start leaves are a new store',
  async (suffix, content) => {
    const path = temporaryFile();
    writeFileSync(path, '');
    writeFileSync(path + suffix, content);
    expect(await openStorage(path).pets.add(REX)).toMatchObject({ id: 1n });
  },
);

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

test('without `startWriter`, an existing store is opened while it is locked', () => {
  const path = newStore();
  connect(path).exec('BEGIN IMMEDIATE');
  openStorage(path, { startWriter: false });
});

test('with `readOnly`, no byte of the file changes, and writes are refused', async () => {
  const path = newStore(1);
  execute(path, 'PRAGMA journal_mode = DELETE');
  const before = bytesOf(path);
  const started = startedThreads();
  const storage = openSqliteStorage(path, { readOnly: true });
  expect(await storage.pets.find(1n)).toBeDefined();
  const refused = { code: 'storage_unavailable', message: 'the store was opened for reading only' };
  await expect(storage.pets.add(REX)).rejects.toMatchObject(refused);
  expect(started).toEqual([]);
  await storage.backup?.(temporaryFile());
  await storage.check();
  await storage.close();
  expect(bytesOf(path)).toBe(before);
});

test('with `readOnly`, a store is still read after the first server turned on its write-ahead log', async () => {
  const path = newStore(1);
  execute(path, 'PRAGMA journal_mode = DELETE');
  const storage = openSqliteStorage(path, { readOnly: true });
  const server = openStorage(path);
  await server.pets.add(REX);
  await storage.check();
  expect(await storage.pets.find(2n)).toBeDefined();
  await storage.backup?.(temporaryFile());
  await server.close();
  await storage.check();
  await storage.close();
});

test.each([{}, { mustExist: true }, { readOnly: true }])(
  'a folder that cannot be read is named: %o',
  (options) => {
    const path = temporaryFile();
    replaceFs('statSync', () => {
      throw systemError('EACCES');
    });
    expect(() => openSqliteStorage(path, options)).toThrow(refusal(path, /EACCES/));
  },
);

test('a folder that cannot be created is named, and the start does not hang', () => {
  const path = '/proc/a/b/pets.db';
  expect(() => openSqliteStorage(path)).toThrow(`${path}: cannot create the file: ENOENT`);
});

test.skipIf(!canMount)(
  `a store on a read-only file system is refused, and the error names it${mountNote}`,
  () => {
    const disk = new SmallDisk('2m');
    const { folder } = disk;
    const path = join(folder, 'pets.db');
    makeStore(path, 3);
    disk.makeReadOnly();
    const before = bytesOf(path);
    for (const each of [path, join(folder, 'new.db'), join(folder, 'new', 'new.db')])
      expect(() => openSqliteStorage(each)).toThrow(refusal(each, /./));
    expect(bytesOf(path)).toBe(before);
  },
);

test('a path with unusual characters is a path like any other', async () => {
  const folder = join(temporaryFolder(), `it's 100 % "new" & ?mode=memory#🐈`);
  mkdirSync(folder);
  const path = join(folder, 'file:pets.db');
  makeStore(path, 1);
  expect(existsSync(path)).toBe(true);
  expect(await openStorage(path).pets.find(1n)).toBeDefined();
});

test('a path that ends in white space, which the driver would ignore, opens no other file', async () => {
  const [path, link, backup] = [newStore(1), temporaryFile(), newStore(2)];
  const spaced = `${path} `;
  symlinkSync(spaced, link);
  execute(backup, 'PRAGMA journal_mode = DELETE');
  const storage = openStorage(path);
  const message = expect.stringMatching(/pets\.db\s' ends in white space: choose another name$/);
  const refused = expect.objectContaining({ name: 'AnimalStoreError', message });
  for (const name of [spaced, link, `${path}\n`])
    for (const options of [{}, { mustExist: true }, { readOnly: true }])
      expect(() => openSqliteStorage(name, options)).toThrow(refused);
  await expect(storage.backup?.(spaced)).rejects.toThrow(refused);
  await expect(restoreSqliteStore(spaced, backup)).rejects.toThrow(refused);
  copyFileSync(backup, spaced);
  expect(() => openSqliteStorage(spaced)).toThrow(refused);
  expect(() => examineSqliteBackup(path, spaced)).toThrow(refused);
  await expect(restoreSqliteStore(temporaryFile(), spaced)).rejects.toThrow(refused);
  expect(() => examineSqliteStore(spaced)).toThrow(refused);
  expect(countIn(path)).toBe(1n);
  makeStore(join(`${dirname(path)} `, ' other.db'));
});

test('every call resolves `..` after a link to the folder that contains the link', async () => {
  const [folder, other] = [temporaryFolder(), join(temporaryFolder(), 'releases', 'v2')];
  mkdirSync(other, { recursive: true });
  symlinkSync(other, join(folder, 'current'));
  const path = `${folder}/current/../pets.db`;
  const storage = openStorage(path);
  await storage.pets.add(REX);
  await storage.backup?.(`${path}.backup`);
  expect(readdirSync(dirname(other))).toEqual(['v2']);
  writeFileSync(join(dirname(other), 'pets.db.backup'), 'another file');
  expect(examineSqliteBackup(newStore(), `${path}.backup`)).toMatchObject({ pets: 1 });
  expect(await restoreSqliteStore(temporaryFile(), `${path}.backup`)).toMatchObject({ pets: 1 });
  for (const options of [{}, { mustExist: true }, { readOnly: true }])
    expect(await openStorage(path, options).pets.find(1n)).toBeDefined();
});

test('every connection uses a write-ahead log, syncs each commit, and waits briefly for a lock', () => {
  const path = newStore();
  for (const db of [openReader(path), openWriter(filesOf(path))]) {
    const settings = ['journal_mode', 'synchronous', 'journal_size_limit', 'busy_timeout'];
    const values = settings.map((name) => db.pragma(name, { simple: true }));
    expect(values).toEqual(['wal', 2n, 16n * 1024n * 1024n, 100n]);
    db.close();
  }
});

test('a database in memory is refused, because it is not durable', () => {
  for (const path of ['', ':memory:', ' :memory: ']) {
    const message = `path: expected the path of a file, got '${path}': openMemoryStorage opens a store in memory`;
    const refused = expect.objectContaining({ code: 'invalid_request', message });
    expect(() => openSqliteStorage(path)).toThrow(refused);
  }
  expect(existsSync(':memory:')).toBe(false);
});

/** Overwrites a page in the middle. */
function overwrite(path: string, page: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, page, 0, page.length, Math.floor(statSync(path).size / 8192) * 4096);
  closeSync(file);
}

test('an empty file stays empty when the store must exist, as for commands that read', () => {
  const path = temporaryFile();
  writeFileSync(path, '');
  const refused = { reason: 'file_missing', message: `${path}: the file contains no store` };
  const open = () => openStorage(path, { mustExist: true, migration: 'never' });
  expect(open).toThrow(expect.objectContaining(refused));
  expect(statSync(path).size).toBe(0);
});

/** Several threads of one process open a store. Each adds a pet. */
test('threads that open a store at the same time after a crash keep its pets', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  for (let count = 0; count < 2; count += 1) await storage.pets.add(REX);
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData).then(({ openSqliteStorage }) => {
      parentPort.on('message', async ({ path, pet }) => {
        const storage = openSqliteStorage(path);
        await storage.pets.add(pet);
        await storage.close();
        parentPort.postMessage('added');
      });
      parentPort.postMessage('ready');
    });`;
  const workerData = new URL('../../../src/adapters/sqlite/index.ts', import.meta.url).href;
  const threads = [1, 2, 3].map(() => new Worker(code, { eval: true, workerData, execArgv: [] }));
  onTestFinished(async () => void (await Promise.all(threads.map((thread) => thread.terminate()))));
  const responses = () => Promise.all(threads.map((thread) => once(thread, 'message')));
  await responses();
  for (let round = 0; round < 12; round += 1) {
    const copy = temporaryFile();
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix);
    for (const thread of threads) thread.postMessage({ path: copy, pet: REX });
    await responses();
    expect(countIn(copy)).toBe(5n);
  }
});
