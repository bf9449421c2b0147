import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCommandStore, storeFilesOf } from '../../src/composition/command.ts';
import { DATABASES } from '../../src/composition/databases/index.ts';
import { memory } from '../../src/composition/databases/memory.ts';
import { DatabaseRegister } from '../../src/composition/databases/register.ts';

function pathOfStore(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'animal-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'pets.db');
}

test('a command opens a store that outlives it', async () => {
  await expect(openCommandStore({}, 'memory:', { mustExist: false })).rejects.toMatchObject({
    name: 'ConfigError',
  });
  const environment = { DATABASE_URL: `sqlite:${pathOfStore()}` };
  await expect(openCommandStore(environment, undefined, { mustExist: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
  });
  const created = await openCommandStore(environment, undefined, { mustExist: false });
  const { id } = await created.createPet({ name: 'Rex', categoryId: 1n });
  await created.close();
  const opened = await openCommandStore(environment, undefined, { mustExist: true });
  expect(await opened.getPet(id)).toMatchObject({ name: 'Rex' });
  await opened.close();
});

test('the files of a database are known before they exist', async () => {
  const path = pathOfStore();
  expect(await DATABASES.files({ scheme: 'memory', location: '' })).toEqual([]);
  const files = await storeFilesOf({}, `sqlite:${path}`);
  expect(files).toEqual(expect.arrayContaining([path, `${path}-wal`, `${path}-shm`, `${path}-journal`]));
});

test('an engine whose driver is missing says which package to install', async () => {
  const cause = Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' });
  const load = () => Promise.reject(cause);
  const withDriver = new DatabaseRegister([{ ...memory, driver: 'some-driver', load }]);
  const database = { scheme: 'memory', location: '' };
  const expected = {
    code: 'storage_unavailable',
    message: 'the package some-driver is not installed: npm install some-driver',
    cause,
  };
  await expect(withDriver.open(database)).rejects.toMatchObject(expected);
  await expect(withDriver.files(database)).rejects.toMatchObject(expected);
  await expect(new DatabaseRegister([{ ...memory, load }]).open(database)).rejects.toBe(cause);
  const other = () => Promise.reject(new Error('other'));
  const failing = new DatabaseRegister([{ ...memory, driver: 'some-driver', load: other }]);
  await expect(failing.open(database)).rejects.toThrow('other');
});

test('a database of an unknown engine is refused', async () => {
  await expect(DATABASES.open({ scheme: 'mysql', location: '' })).rejects.toThrow(
    'unknown database scheme: mysql',
  );
});

test('an engine without restores says so, and can be examined', async () => {
  const database = { scheme: 'memory', location: '' };
  await expect(DATABASES.restore(database, 'backup.db')).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'restore is not supported by this storage',
  });
  expect(await DATABASES.examine(database)).toMatchObject({ exists: true });
});
