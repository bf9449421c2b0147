import { expect, test } from 'vitest';
import { createCommands } from '../../src/composition/commands.ts';
import { SelectedDatabase } from '../../src/composition/databases/database.ts';
import type { Engine } from '../../src/composition/databases/engine.ts';
import { memory } from '../../src/composition/databases/memory.ts';
import { sqlite } from '../../src/composition/databases/sqlite.ts';
import { temporaryFile } from '../adapters/sqlite/temporary-file.ts';
import { withRequired } from '../support/pets.ts';

const inMemory = new SelectedDatabase(memory, 'memory', '');

test('a command opens a store that outlives it', async () => {
  const notDurable = createCommands({}, '1.0.0').openStore('memory:', { mustExist: false, work: 'export' });
  await expect(notDurable).rejects.toMatchObject({
    name: 'ConfigError',
  });
  const { openStore } = createCommands({ DATABASE_URL: `sqlite:${temporaryFile()}` }, '1.0.0');
  await expect(openStore(undefined, { mustExist: true, work: 'export' })).rejects.toMatchObject({
    code: 'storage_unavailable',
  });
  const created = await openStore(undefined, { mustExist: false, work: 'export' });
  const { id } = await created.createPet(withRequired({ name: 'Rex', categoryId: 1n }));
  await created.close();
  const opened = await openStore(undefined, { mustExist: true, work: 'export' });
  expect(await opened.getPet(id)).toMatchObject({ name: 'Rex' });
  await opened.close();
});

test('the files of a database are known before they exist', async () => {
  const path = temporaryFile();
  expect(await inMemory.files()).toEqual([]);
  const files = await new SelectedDatabase(sqlite, 'sqlite', path).files();
  expect(files).toEqual(expect.arrayContaining([path, `${path}-wal`, `${path}-shm`, `${path}-journal`]));
});

test('an engine whose driver is missing says which package to install', async () => {
  const missing = (name: string) =>
    Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  const cause = missing('some-driver');
  const load = () => Promise.reject(cause);
  const database = (engine: Partial<Engine>) => new SelectedDatabase({ ...memory, ...engine }, 'memory', '');
  const engine = { ...memory, driver: 'some-driver', load };
  const message = 'the package some-driver is not installed: npm install some-driver';
  for (const [source, text] of [
    [undefined, message],
    ['--database-url', `--database-url: ${message}`],
  ] as const) {
    const withDriver = new SelectedDatabase(engine, 'memory', '', source);
    for (const call of [withDriver.open(), withDriver.files(), withDriver.examine()]) {
      await expect(call).rejects.toMatchObject({ code: 'storage_unavailable', message: text });
    }
  }
  await expect(new SelectedDatabase(engine, 'memory', '').open()).rejects.toMatchObject({ cause });
  await expect(database({ load }).open()).rejects.toBe(cause);
  const other = () => Promise.reject(missing('/dist/adapters/ours.js'));
  const failing = database({ driver: 'some-driver', load: other });
  await expect(failing.open()).rejects.toThrow('ours');
});

test('storage_unavailable names the setting that selected the database', async () => {
  const database = new SelectedDatabase(sqlite, 'sqlite', '/no/such.db', 'DATABASE_URL');
  await expect(database.open({ mustExist: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
    reason: 'file_missing',
    message: 'DATABASE_URL: /no/such.db: there is no such file',
    cause: { message: '/no/such.db: there is no such file' },
  });
  await expect(
    new SelectedDatabase(memory, 'memory', '', '--database-url').restore('x'),
  ).rejects.toMatchObject({
    message: 'restore is not supported by this storage',
  });
  expect(await inMemory.examine()).toMatchObject({ exists: true });
});
