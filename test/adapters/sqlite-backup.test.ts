import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqliteStorage } from '../../src/adapters/sqlite/storage.ts';
import type { Storage } from '../../src/application/ports.ts';
import { connect, makeStore, openStorage, REX, temporaryFile } from './sqlite-file.ts';

/** Large enough for a copy to take several steps of 1,000 pages. */
async function storeWithManyPages(path: string): Promise<Storage> {
  const storage = openStorage(path);
  const batch = Array.from({ length: 1000 }, () => ({ ...REX, name: 'x'.repeat(200) }));
  await storage.transfer.importPets(
    (async function* () {
      for (let times = 0; times < 40; times++) yield batch;
    })(),
  );
  return storage;
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

test('a backup is a store of its own, with the animals, the keys and the rights of the file', async () => {
  const path = temporaryFile();
  await makeStore(path, 3);
  chmodSync(path, 0o640);
  const storage = openStorage(path);
  const about = await storage.apiKeys.add('some key', { name: 'ops', hint: 'some', createdAt: 1 });
  const file = join(dirname(path), 'copy.db');
  await backUp(storage, file);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  const copy = openStorage(file);
  expect((await copy.pets.list({ limit: 100 })).pets).toEqual((await storage.pets.list({ limit: 100 })).pets);
  expect(await copy.apiKeys.list()).toEqual([about]);
  expect((await copy.pets.add(REX)).id).toBe(4n);
});

test('others write during a backup, which is of one moment after its call', async () => {
  const path = temporaryFile();
  const storage = await storeWithManyPages(path);
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
  expect(countIn(file)).toBe(40_001n);
  expect(countIn(path)).toBe(40_001n + BigInt(adding.length));
});

describe('a backup that ends early leaves nothing', () => {
  test('at the signal', async () => {
    const path = temporaryFile();
    const storage = await storeWithManyPages(path);
    const end = new AbortController();
    const file = join(dirname(path), 'copy.db');
    const options = { signal: end.signal, onProgress: () => end.abort(new Error('that is enough')) };
    const before = readdirSync(dirname(path));
    await expect(backUp(storage, file, options)).rejects.toThrow('that is enough');
    expect(readdirSync(dirname(path))).toEqual(before);
  });

  test('when the file is made by somebody else meanwhile, which stays as it is', async () => {
    const path = temporaryFile();
    const storage = await storeWithManyPages(path);
    const file = join(dirname(path), 'copy.db');
    const onProgress = () => writeFileSync(file, 'precious');
    await expect(backUp(storage, file, { onProgress })).rejects.toThrow(`${file} exists already`);
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(readdirSync(dirname(path)).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('where there is no such folder', async () => {
    const path = temporaryFile();
    await makeStore(path);
    const file = join(dirname(path), 'missing', 'copy.db');
    await expect(backUp(openStorage(path), file)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining(`cannot write ${file}`),
    });
    expect(existsSync(dirname(file))).toBe(false);
  });
});

describe('a file that is there already', () => {
  test('is refused, or replaced where that is wanted', async () => {
    const path = temporaryFile();
    await makeStore(path, 2);
    const storage = openStorage(path);
    const file = join(dirname(path), 'copy.db');
    writeFileSync(file, 'precious');
    await expect(backUp(storage, file)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(readFileSync(file, 'utf8')).toBe('precious');
    await backUp(storage, file, { overwrite: true });
    expect(countIn(file)).toBe(2n);
  });

  test('is never the store itself, nor one that belongs to it, by whatever name', async () => {
    const path = temporaryFile();
    await makeStore(path, 2);
    const storage = openSqliteStorage(path);
    await storage.pets.add(REX);
    mkdirSync(join(dirname(path), 'sub'));
    for (const file of [path, `${path}-wal`, `${path}-shm`, join(dirname(path), 'sub', '..', 'pets.db')]) {
      await expect(backUp(storage, file, { overwrite: true })).rejects.toThrow('is the store itself');
    }
    await storage.close();
    expect(countIn(path)).toBe(3n);
  });
});
