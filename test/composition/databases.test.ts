import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase, parseDatabase } from '../../src/composition/databases/database.ts';
import { memory } from '../../src/composition/databases/memory.ts';
import { sqlite } from '../../src/composition/databases/sqlite.ts';
import { temporaryFolder } from '../support/process.ts';

test('an engine whose driver is missing says which package to install', async () => {
  const opened = (missing: string, source?: string, code = 'ERR_MODULE_NOT_FOUND') => {
    const error = Object.assign(new Error(`Cannot find '${missing}'`), { code });
    const engine = { ...memory, driver: 'some-driver', open: () => Promise.reject(error) };
    return openDatabase({ engine, scheme: 'memory', location: '', place: '', ...(source && { source }) });
  };
  const message = 'the package some-driver is not installed: npm install some-driver';
  const code = 'storage_unavailable';
  await expect(opened('some-driver')).rejects.toMatchObject({ code, message });
  const named = { code, message: `--database-url: ${message}` };
  await expect(opened('some-driver', '--database-url')).rejects.toMatchObject(named);
  for (const source of [undefined, 'DATABASE_URL'])
    await expect(opened('/dist/ours.js', source)).rejects.toThrow("Cannot find '/dist/ours.js'");
  await expect(opened('some-driver', undefined, 'EACCES')).rejects.toThrow("Cannot find 'some-driver'");
});

test('storage_unavailable names the setting that selected the database', async () => {
  const path = join(temporaryFolder(), 'no.db');
  const database = { engine: sqlite, scheme: 'sqlite', location: path, place: path, source: 'DATABASE_URL' };
  await expect(openDatabase(database, { mustExist: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
    reason: 'file_missing',
    message: `DATABASE_URL: ${path}: there is no such file`,
    cause: { message: `${path}: there is no such file` },
  });
});

test('a URL from a file is read again for the password of each new connection', async () => {
  const file = join(temporaryFolder(), 'url');
  let current: (() => string) | undefined;
  const open: typeof memory.open = (location, options) => {
    current = options.currentLocation;
    return memory.open(location, options);
  };
  const database = parseDatabase([{ ...memory, parse: (rest: string) => rest, open }], 'memory:old');
  await (await openDatabase({ ...database, readUrl: () => readFileSync(file, 'utf8').trim() })).close();
  writeFileSync(file, 'memory:new\n');
  expect(current?.()).toBe('new');
  await (await openDatabase(database)).close();
  expect(current).toBeUndefined();
});
