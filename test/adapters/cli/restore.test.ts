/** Restores of backups, in this process. */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.ts';
import { createCommands } from '../../../src/composition/commands.ts';
import { temporaryFolder } from '../../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../../support/small-disk.ts';
import { makeSpecialFiles } from '../../support/special-files.ts';
import { openStorage } from '../sqlite/temporary-file.ts';
import {
  type CommandLine,
  commandLine,
  copiesOf,
  emptyWithLog,
  exportOf,
  failed,
  line,
  withRex,
} from './cli.ts';

interface BackedUp {
  /** Its store has a key and two pets, of which the second was created after the backup. */
  readonly cli: CommandLine;
  /** The path of the backup, which has the key and the pet Rex. */
  readonly backup: string;
  /** The export of the backup. */
  readonly text: string;
}

const original = copiesOf(async (cli) => {
  await cli.run(['import', '--create-store', '-'], { stdin: line('Rex') });
  await cli.run(['keys', 'create', '--name', 'shop']);
});

async function withBackup(): Promise<BackedUp> {
  const cli = await original();
  const backup = join(temporaryFolder(), 'backup.db');
  await cli.run(['backup', backup]);
  await cli.run(['import', '--create-store', '-'], { stdin: line('Later') });
  return { cli, backup, text: '{"id":1,"name":"Rex","categoryId":1,"status":"available"}\n' };
}

function namesIn(cli: CommandLine): string[] {
  return readdirSync(dirname(cli.path));
}

function edit(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

describe('restore', () => {
  test('makes a store that does not exist, with its folder', async () => {
    const { backup, text } = await withBackup();
    const cli = commandLine(join(temporaryFolder(), 'new', 'pets.db'));
    const { status, out, err } = await cli.run(['restore', backup]);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(
      new RegExp(
        `^Restored ${cli.path} from ${backup}: 1 pet and 1 key, ids go on after 1, in [\\d.]+ m?s\\.\n$`,
      ),
    );
    expect(namesIn(cli)).toEqual(['pets.db']);
    expect(await exportOf(cli)).toBe(text);
    expect(JSON.parse((await cli.run(['keys', 'list', '--json'])).out)).toMatchObject([{ name: 'shop' }]);
  });

  test('replaces a store that has pets only with --force', async () => {
    const { cli, backup, text } = await withBackup();
    const before = await exportOf(cli);
    expect(await cli.run(['restore', backup])).toEqual(
      failed(1, `${cli.path} has 2 pets: --force replaces it`),
    );
    expect(await exportOf(cli)).toBe(before);
    const { status, out } = await cli.run(['restore', '--force', '--json', backup]);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual({
      store: cli.path,
      bytes: statSync(cli.path).size,
      pets: 1,
      apiKeys: 1,
      lastId: '2',
      setAside: [],
      milliseconds: expect.any(Number),
    });
    expect(await exportOf(cli)).toBe(text);
    expect(namesIn(cli)).toEqual(['pets.db']);
  });

  test('assigns no id of the replaced store again, also when the backup is empty or the store has no pet left', async () => {
    const { cli, backup } = await withBackup();
    const emptied = commandLine();
    copyFileSync(cli.path, emptied.path);
    edit(emptied.path, 'DELETE FROM pets');
    const withoutPets = commandLine();
    await withoutPets.run(['keys', 'create', '--create-store', '--name', 'x']);
    const emptyBackup = join(temporaryFolder(), 'empty.db');
    await withoutPets.run(['backup', emptyBackup]);
    for (const [store, file, id] of [
      [emptied, backup, 3],
      [cli, backup, 3],
      [cli, emptyBackup, 4],
    ] as const) {
      const { out } = await store.run(['restore', '--force', file]);
      expect(out).toContain(`, ids go on after ${id - 1}, in`);
      await store.run(['import', '--new-ids', '-'], { stdin: line('New') });
      expect((await exportOf(store)).trimEnd().split('\n').at(-1)).toMatch(`{"id":${id},"name":"New",`);
    }
  });

  test.each([
    ['has no id left', "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'pets'"],
    [
      'has a text as its last id',
      "DELETE FROM pets; UPDATE sqlite_sequence SET seq = 'x' WHERE name = 'pets'",
    ],
    ['has lost its table', 'DROP TABLE pets'],
  ])('goes on after the ids of the backup if the replaced store %s', async (_, change) => {
    const { cli, backup } = await withBackup();
    edit(cli.path, change);
    const { out, err } = await cli.run(['restore', '--force', backup]);
    expect([out.includes('ids go on after 1, in'), err]).toEqual([true, '']);
  });

  test('replaces a store without pets, and an empty file', async () => {
    const { backup, text } = await withBackup();
    const withoutPets = commandLine();
    await withoutPets.run(['keys', 'create', '--create-store', '--name', 'x']);
    const empty = commandLine();
    writeFileSync(empty.path, '');
    for (const cli of [withoutPets, empty]) {
      expect((await cli.run(['restore', backup])).status).toBe(0);
      expect(await exportOf(cli)).toBe(text);
    }
  });

  test('leaves the backup unchanged, and can be repeated', async () => {
    const { cli, backup, text } = await withBackup();
    const [bytes, folder] = [readFileSync(backup), readdirSync(dirname(backup))];
    for (let count = 0; count < 2; count++) {
      expect((await cli.run(['restore', '--force', backup])).status).toBe(0);
      await cli.run(['import', '--create-store', '-'], { stdin: line('More') });
    }
    await cli.run(['restore', '--force', backup]);
    expect(await exportOf(cli)).toBe(text);
    expect(readFileSync(backup).equals(bytes)).toBe(true);
    expect(readdirSync(dirname(backup))).toEqual(folder);
  });

  test('keeps the permissions of the store, and follows its symbolic link', async () => {
    const { cli, backup, text } = await withBackup();
    chmodSync(cli.path, 0o600);
    const link = join(dirname(cli.path), 'link.db');
    symlinkSync(cli.path, link);
    expect((await commandLine(link).run(['restore', '--force', backup])).status).toBe(0);
    expect(statSync(cli.path).mode & 0o777).toBe(0o600);
    expect(await exportOf(cli)).toBe(text);
  });

  test('never applies the write-ahead log of the old store to the restored one', async () => {
    const { cli, backup, text } = await withBackup();
    // A copy of an open store is like a store whose server was killed: its newest pages are in the log.
    const [crashed, other] = [commandLine(), commandLine()];
    const storage = openSqliteStorage(cli.path);
    for (let count = 0; count < 50; count++) {
      await storage.pets.add({ name: 'In the log', categoryId: 1n, status: 'sold' });
    }
    for (const copy of [crashed, other]) {
      for (const suffix of ['', '-wal', '-shm']) copyFileSync(cli.path + suffix, copy.path + suffix);
    }
    await storage.close();
    expect(statSync(`${crashed.path}-wal`).size).toBeGreaterThan(0);
    expect((await other.run(['restore', backup])).err).toContain('has 52 pets: --force replaces it');
    expect((await crashed.run(['restore', '--force', backup])).status).toBe(0);
    expect(await exportOf(crashed)).toBe(text);
    expect(namesIn(crashed)).toEqual(['pets.db']);
  });
});

describe('a restore is refused', () => {
  test('while the store is in use', async () => {
    const { cli, backup } = await withBackup();
    const storage = openStorage(cli.path);
    for (const flags of [[], ['--force']]) {
      expect(await cli.run(['restore', ...flags, backup])).toEqual(
        failed(1, `${cli.path} is in use by another process: stop the server before the restore`),
      );
    }
    await storage.pets.add({ name: 'Still', categoryId: 1n, status: 'sold' });
    await storage.check();
    await storage.close();
    expect((await cli.run(['restore', '--force', backup])).status).toBe(0);
  });

  test.each([
    ['an empty file', (file: string) => truncateSync(file), 'is not a backup of a store'],
    ['a text', (file: string) => writeFileSync(file, 'x'.repeat(9000)), 'is not a backup of a store'],
    [
      'another database',
      (file: string) => edit(file, 'PRAGMA application_id = 7'),
      'is not a backup of a store',
    ],
    [
      'a backup of a newer release',
      (file: string) => edit(file, 'PRAGMA user_version = 99'),
      `has schema version 99, this release supports ${MIGRATIONS.length}: use the release that wrote it, or a newer one`,
    ],
    ['a truncated backup', (file: string) => truncateSync(file, 8192), 'damaged'],
    [
      'a backup with a log',
      (file: string) => writeFileSync(`${file}-wal`, 'x'),
      'is not a backup, but a store or a copy of its files',
    ],
    ['a missing file', (file: string) => rmSync(file), 'there is no such file'],
  ])('for %s', async (_, change, message) => {
    const { cli, backup } = await withBackup();
    const before = await exportOf(cli);
    change(backup);
    const { status, out, err } = await cli.run(['restore', '--force', backup]);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^animal-store: .*\n$/);
    expect(err).toContain(message);
    expect(await exportOf(cli)).toBe(before);
    expect(namesIn(cli)).toEqual(['pets.db']);
  });

  test('for a backup with damaged pages', async () => {
    const { cli, backup } = await withBackup();
    await cli.run(['import', '--create-store', '-'], { stdin: line('x'.repeat(200)).repeat(2000) });
    await cli.run(['backup', '--force', backup]);
    const bytes = readFileSync(backup);
    bytes.fill(0x55, bytes.length - 20_000, bytes.length - 8000);
    writeFileSync(backup, bytes);
    const before = await exportOf(cli);
    const { status, err } = await cli.run(['restore', '--force', backup]);
    expect(status).toBe(1);
    expect(err).toMatch(/backup\.db is damaged/);
    expect(await exportOf(cli)).toBe(before);
  });

  test('for a file of the store, and anything that is not a regular file', async () => {
    const { cli } = await withBackup();
    writeFileSync(`${cli.path}-wal`, '');
    for (const file of [cli.path, `${cli.path}-wal`]) {
      expect((await cli.run(['restore', file])).err).toBe(`animal-store: ${file} belongs to the store\n`);
    }
    for (const file of await makeSpecialFiles(dirname(cli.path))) {
      const { status, err } = await cli.run(['restore', '--force', file]);
      expect(status).not.toBe(0);
      expect(err).toMatch(/regular file|there is no such file\n$/);
    }
  });

  test('for a store that is the database of another application, even with --force', async () => {
    const { backup } = await withBackup();
    const cli = commandLine();
    edit(cli.path, 'CREATE TABLE t (x)');
    const bytes = readFileSync(cli.path);
    const { status, err } = await cli.run(['restore', '--force', backup]);
    expect([status, err]).toEqual([
      1,
      `animal-store: ${cli.path}: the file is the database of another application\n`,
    ]);
    expect(readFileSync(cli.path).equals(bytes)).toBe(true);
  });

  test('for a directory at the path of the store', async () => {
    const { backup } = await withBackup();
    const cli = commandLine();
    mkdirSync(cli.path);
    expect(await cli.run(['restore', '--force', backup])).toEqual(
      failed(1, `${cli.path} is not a regular file`),
    );
  });
});

describe('a store that cannot be read', () => {
  test.each([
    ['with a damaged header', (path: string) => writeFileSync(path, 'x'.repeat(9000))],
    ['that is empty and has a write-ahead log', emptyWithLog],
    [
      'whose file was removed without its write-ahead log',
      (path: string) => {
        rmSync(path);
        writeFileSync(`${path}-wal`, 'log');
      },
    ],
  ])('%s is replaced only with --force, and its files are kept', async (_, damage) => {
    const { cli, backup, text } = await withBackup();
    damage(cli.path);
    const before = namesIn(cli).map((name) => readFileSync(join(dirname(cli.path), name), 'utf8'));
    expect(await cli.run(['restore', backup])).toEqual(
      failed(1, `${cli.path} cannot be read as a store: --force replaces it`),
    );
    const { status, out, err } = await cli.run(['restore', '--force', '--json', backup]);
    expect(status).toBe(0);
    const { setAside } = JSON.parse(out) as { setAside: string[] };
    expect(setAside.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
    for (const path of setAside) expect(err).toContain(`The unreadable store is kept in ${path}\n`);
    expect(await exportOf(cli)).toBe(text);
    expect(namesIn(cli).toSorted()).toEqual(
      ['pets.db', ...setAside.map((path) => path.slice(dirname(path).length + 1))].toSorted(),
    );
  });
});

test('a signal cancels a restore, and the store is unchanged', async () => {
  const { cli, backup } = await withBackup();
  const before = await exportOf(cli);
  const signal = AbortSignal.abort();
  expect(await cli.run(['restore', '--force', backup], { signal })).toEqual(
    failed(1, 'interrupted; nothing was restored'),
  );
  expect(await exportOf(cli)).toBe(before);
  expect(namesIn(cli)).toEqual(['pets.db']);
});

test.skipIf(!canMount)(`a full disk leaves the store unchanged${mountNote}`, async () => {
  const { backup } = await withBackup();
  const big = await withRex();
  await big.run(['import', '--create-store', '-'], { stdin: line('x'.repeat(250)).repeat(5000) });
  await big.run(['backup', '--force', backup]);
  const cli = commandLine(join(new SmallDisk('1m').folder, 'pets.db'));
  await cli.run(['import', '--create-store', '-'], { stdin: line('Rex') });
  const before = await exportOf(cli);
  const { status, err } = await cli.run(['restore', '--force', backup]);
  expect(status).toBe(1);
  expect(err).toMatch(/^animal-store: cannot restore .*pets\.db: ENOSPC.*\n$/);
  expect(await exportOf(cli)).toBe(before);
  expect(namesIn(cli)).toEqual(['pets.db']);
});

test('an error names the setting that selected the store', async () => {
  const { cli, backup } = await withBackup();
  const storage = openStorage(cli.path);
  const environment = { DATABASE_URL: `sqlite:${cli.path}` };
  const inUse = `${cli.path} is in use by another process: stop the server before the restore`;
  await expect(createCommands(environment, '1.0.0').restoreStore(undefined, backup, {})).rejects.toThrow(
    `DATABASE_URL: ${inUse}`,
  );
  await expect(createCommands({}, '1.0.0').restoreStore(`sqlite:${cli.path}`, backup, {})).rejects.toThrow(
    `--database-url: ${inUse}`,
  );
  await storage.close();
});
