import {
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqliteStorage } from '../../../../src/adapters/sqlite/index.ts';
import type { Storage } from '../../../../src/application/ports/storage.ts';
import { replaceFs, systemError } from '../../../support/replace-fs.ts';
import { identityOf, makeSpecialFiles } from '../../../support/special-files.ts';
import { connect } from '../../../support/sqlite.ts';
import { makeStore, newStore, openStorage, REX, temporaryFile } from '../temporary-file.ts';

/** The number of rows of a store whose copy takes several steps of 1,000 pages. */
const MANY = 10_000;

function storeWithManyPages(path: string): Storage {
  makeStore(path, MANY, { ...REX, name: '🐈'.repeat(255) });
  return openStorage(path);
}

function countIn(path: string): bigint {
  const db = connect(path);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  return db.prepare('SELECT count(*) FROM pets').pluck().get() as bigint;
}

async function backUp(storage: Storage, ...[file, options]: Parameters<NonNullable<Storage['backup']>>) {
  if (storage.backup === undefined) throw new Error('SQLite has a backup');
  await storage.backup(file, options);
}

test('a backup is a store with the pets, and the keys of the original', async () => {
  const path = newStore(3);
  const storage = openStorage(path);
  const about = await storage.apiKeys.add('some key', { name: 'ops', prefix: 'some', createdAt: 1 });
  const file = join(dirname(path), 'copy.db');
  await backUp(storage, file);
  const copy = openStorage(file);
  expect((await copy.pets.list({ limit: 100 })).pets).toEqual((await storage.pets.list({ limit: 100 })).pets);
  expect(await copy.apiKeys.list()).toMatchObject([{ ...about }]);
  expect((await copy.pets.add(REX)).id).toBe(4n);
  // The last connection to a database removes its write-ahead log.
  await storage.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('a backup has the state at one moment after its call, while others write', async () => {
  const path = temporaryFile();
  const storage = storeWithManyPages(path);
  const file = join(dirname(path), 'copy.db');
  await storage.pets.add(REX);
  const shares: number[] = [];
  const adding: Promise<unknown>[] = [];
  await backUp(storage, file, {
    onProgress(share) {
      shares.push(share);
      for (let times = 0; times < 5; times++) adding.push(storage.pets.add(REX));
    },
  });
  await Promise.all(adding);
  expect(shares.length).toBeGreaterThan(2);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  expect(countIn(file)).toBe(BigInt(MANY + 1));
  expect(countIn(path)).toBe(BigInt(MANY + 1) + BigInt(adding.length));
});

const NOT_REGULAR = / is not a regular file$|: expected the path of a file, got a directory$/;

describe('a backup that fails leaves no file', () => {
  test.each([
    ['a step before the last', storeWithManyPages],
    ['the last step', openStorage],
  ])('when the signal is aborted at %s', async (_, open) => {
    const path = temporaryFile();
    const storage = open(path);
    const end = new AbortController();
    const reason = new Error('that is enough');
    let steps = 0;
    const onProgress = () => {
      steps += 1;
      end.abort(reason);
    };
    const before = readdirSync(dirname(path));
    const file = join(dirname(path), 'copy.db');
    await expect(backUp(storage, file, { signal: end.signal, onProgress })).rejects.toBe(reason);
    expect(steps).toBe(1);
    expect(readdirSync(dirname(path))).toEqual(before);
  });

  test('when another program creates the file meanwhile, and that file is unchanged', async () => {
    const path = temporaryFile();
    const storage = storeWithManyPages(path);
    const file = join(dirname(path), 'copy.db');
    const onProgress = () => writeFileSync(file, 'precious');
    await expect(backUp(storage, file, { onProgress })).rejects.toThrow(`${file} exists already`);
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(readdirSync(dirname(path)).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('when the folder does not exist', async () => {
    const path = newStore();
    const file = join(dirname(path), 'missing', 'copy.db');
    await expect(backUp(openStorage(path), file)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: `cannot write ${file}: its folder does not exist`,
    });
    expect(existsSync(dirname(file))).toBe(false);
  });
});

describe('an existing file', () => {
  test('is refused, and replaced with overwrite', async () => {
    const path = newStore(2);
    const storage = openStorage(path);
    const file = join(dirname(path), 'copy.db');
    writeFileSync(file, 'precious');
    await expect(backUp(storage, file)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(readFileSync(file, 'utf8')).toBe('precious');
    await backUp(storage, file, { overwrite: true });
    expect(countIn(file)).toBe(2n);
  });

  test('is refused when it is a file of the store, by any name', async () => {
    const path = newStore(2);
    const folder = dirname(path);
    const link = join(folder, 'link.db');
    symlinkSync(path, link);
    for (const opened of [path, link]) {
      const storage = openSqliteStorage(opened);
      await storage.pets.add(REX);
      for (const name of ['', '-wal', '-shm']) {
        linkSync(path + name, join(folder, `hard${name}`));
        symlinkSync(path + name, join(folder, `soft${name}`));
      }
      mkdirSync(join(folder, 'sub'));
      const own = [path, link, `${path}-wal`, `${path}-shm`, join(folder, 'sub', '..', 'pets.db')];
      const others = readdirSync(folder).filter((name) => /^(hard|soft)/.test(name));
      for (const file of [...own, ...others.map((name) => join(folder, name))]) {
        const refusal = { code: 'invalid_request', message: `${file} belongs to the store` };
        await expect(backUp(storage, file, { overwrite: true })).rejects.toMatchObject(refusal);
        await expect(backUp(storage, file)).rejects.toMatchObject(refusal);
      }
      for (const name of [...others, 'sub']) rmSync(join(folder, name), { recursive: true });
      await storage.close();
    }
    expect(readdirSync(folder).toSorted()).toEqual(['link.db', 'pets.db']);
    expect(countIn(path)).toBe(4n);
  });

  test('is replaced at the target of a symbolic link, and the link stays', async () => {
    const path = newStore(2);
    const [file, link] = [join(dirname(path), 'copy.db'), join(dirname(path), 'latest.db')];
    writeFileSync(file, 'old');
    symlinkSync('copy.db', link);
    await expect(backUp(openStorage(path), link)).rejects.toThrow(`${link} exists already`);
    await backUp(openStorage(path), link, { overwrite: true });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(countIn(file)).toBe(2n);
  });

  test('is refused when it is not a regular file', async () => {
    const path = newStore();
    const storage = openStorage(path);
    const files = await makeSpecialFiles(dirname(path));
    expect(files.length).toBeGreaterThanOrEqual(7);
    const before = readdirSync(dirname(path));
    for (const file of files) {
      const identity = identityOf(file);
      for (const overwrite of [true, false]) {
        await expect(backUp(storage, file, { overwrite })).rejects.toMatchObject({
          code: 'invalid_request',
          message: expect.stringMatching(NOT_REGULAR),
        });
      }
      expect(identityOf(file)).toBe(identity);
    }
    expect(readdirSync(dirname(path))).toEqual(before);
  });

  test('is refused when it stops being a regular file while the copy is made', async () => {
    const path = temporaryFile();
    const storage = storeWithManyPages(path);
    const folder = dirname(path);
    mkdirSync(join(folder, 'special'));
    for (const special of await makeSpecialFiles(join(folder, 'special'))) {
      const file = join(folder, 'copy.db');
      writeFileSync(file, 'old');
      const identity = identityOf(special);
      const onProgress = () => {
        if (lstatSync(special, { throwIfNoEntry: false }) === undefined) return;
        renameSync(file, join(folder, 'moved'));
        renameSync(special, file);
      };
      await expect(backUp(storage, file, { overwrite: true, onProgress })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(NOT_REGULAR),
      });
      expect(identityOf(file)).toBe(identity);
      rmSync(file, { recursive: true });
    }
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });
});

describe('a name that SQLite uses for a part of another database', () => {
  const SUFFIXES = ['-journal', '-wal', '-shm'];

  test.each(SUFFIXES)('is refused: copy.db%s', async (suffix) => {
    const path = newStore();
    const storage = openStorage(path);
    for (const file of [`${path}${suffix}`, join(dirname(path), `copy.db${suffix}`)]) {
      if (existsSync(file)) continue;
      for (const overwrite of [true, false]) {
        await expect(backUp(storage, file, { overwrite })).rejects.toMatchObject({
          code: 'invalid_request',
          message: `${file} ends in ${suffix}: SQLite would treat the backup as a part of another database and delete it`,
        });
      }
      expect(existsSync(file)).toBe(false);
    }
  });

  test.each(SUFFIXES)('is refused as the target of a link: %s', async (suffix) => {
    const path = newStore();
    const [file, link] = [join(dirname(path), `copy.db${suffix}`), join(dirname(path), 'link')];
    writeFileSync(file, 'precious');
    symlinkSync(file, link);
    await expect(backUp(openStorage(path), link, { overwrite: true })).rejects.toThrow(`ends in ${suffix}`);
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  test.each(SUFFIXES)('is refused when such a part of the backup exists: %s', async (suffix) => {
    const path = newStore(2);
    const file = join(dirname(path), 'copy.db');
    writeFileSync(file + suffix, 'left by a database of that name');
    for (const overwrite of [true, false]) {
      await expect(backUp(openStorage(path), file, { overwrite })).rejects.toMatchObject({
        code: 'invalid_request',
        message: `${file}${suffix} exists: SQLite would treat it as a part of the backup`,
      });
    }
    expect(existsSync(file)).toBe(false);
  });
});

test('the error says whether the store cannot be read or the copy cannot be written', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const file = `${path}.backup`;
  renameSync(path, `${path}.away`);
  await expect(storage.backup?.(file)).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: `${path}: the database file cannot be opened (SQLITE_CANTOPEN)`,
    cause: { code: 'SQLITE_CANTOPEN' },
  });
  expect(existsSync(path)).toBe(false);
  renameSync(`${path}.away`, path);
  await expect(storage.backup?.(join(dirname(path), 'missing', 'file.db'))).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('cannot write'),
  });
  await storage.close();
});

test('the copy is durable before it gets its name, and the name before the backup resolves', async () => {
  const path = newStore(1);
  const storage = openStorage(path);
  const file = join(dirname(path), 'copy.db');
  const synced: { readonly descriptor: number; readonly isFolder: boolean; readonly isNamed: boolean }[] = [];
  const sync = replaceFs('fsyncSync', (descriptor) => {
    synced.push({ descriptor, isFolder: fstatSync(descriptor).isDirectory(), isNamed: existsSync(file) });
    sync(descriptor);
  });
  await backUp(storage, file);
  expect(synced).toMatchObject([
    { isFolder: false, isNamed: false },
    { isFolder: true, isNamed: true },
  ]);
  for (const { descriptor } of synced) expect(() => fstatSync(descriptor)).toThrow('EBADF');
});

test.each([
  ['SQLITE_IOERR_READ', 'read', 'the disk reported an error (SQLITE_IOERR_READ)'],
  ['SQLITE_IOERR_SHORT_READ', 'read', 'the disk reported an error (SQLITE_IOERR_SHORT_READ)'],
  ['SQLITE_CORRUPT', 'read', 'the database file is damaged (SQLITE_CORRUPT)'],
  ['SQLITE_IOERR_WRITE', 'write', 'the disk reported an error (SQLITE_IOERR_WRITE)'],
  ['SQLITE_FULL', 'write', 'the disk is full (SQLITE_FULL)'],
  ['EIO', 'write', 'EIO'],
  ['XSQLITE_', 'write', 'XSQLITE_'],
])('the error %s of a backup says what failed: to %s', async (code, action, reason) => {
  const path = newStore(1);
  const storage = openStorage(path);
  const file = join(dirname(path), 'copy.db');
  const cause = systemError(code);
  replaceFs('fsyncSync', () => {
    throw cause;
  });
  await expect(backUp(storage, file)).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: `cannot ${action} ${action === 'read' ? path : file}: ${reason}`,
    cause,
  });
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith('copy'))).toEqual([]);
});

test('an error of the progress callback ends the backup', async () => {
  const path = newStore(1);
  const file = join(dirname(path), 'copy.db');
  const cause = new Error('no more');
  const onProgress = () => {
    throw cause;
  };
  await expect(backUp(openStorage(path), file, { onProgress })).rejects.toMatchObject({ cause });
  expect(existsSync(file)).toBe(false);
});
