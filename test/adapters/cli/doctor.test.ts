/** The report of `doctor`, on stores in all states. */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.ts';
import { diagnose } from '../../../src/composition/doctor.ts';
import { temporaryFolder } from '../../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../../support/small-disk.ts';
import { openStorage } from '../sqlite/temporary-file.ts';
import { type CommandLine, commandLine, copiesOf, emptyWithLog, line, withRex } from './cli.ts';

const OPERATOR_KEY = 'operator-key-of-32-characters-or-more';

/** The names, hashes, permissions and times of all files in the folder of a store, except the locks in `-shm`. */
function stateOf({ path }: CommandLine): unknown {
  const folder = dirname(path);
  return readdirSync(folder).map((name) => {
    if (name.endsWith('-shm')) return [name];
    const { mode, mtimeMs } = statSync(join(folder, name));
    const content = readFileSync(join(folder, name));
    return [name, mode, mtimeMs, createHash('sha256').update(content).digest('hex')];
  });
}

/** The report of `doctor --json`, which must change nothing. */
async function reportOf(cli: CommandLine, environment = {}) {
  const before = stateOf(cli);
  const { status, out } = await cli.run(['doctor', '--json'], { environment });
  expect(stateOf(cli)).toEqual(before);
  const { problems, ...report } = JSON.parse(out) as {
    database: Record<string, unknown>;
    problems: { severity: string; message: string }[];
  };
  const messages = (severity: string) =>
    problems.filter((problem) => problem.severity === severity).map(({ message }) => message);
  return { ...report, status, errors: messages('error'), warnings: messages('warning') };
}

const withKeys = copiesOf(async (cli) => {
  await cli.run(['import', '--create-store', '-'], { stdin: line('Rex') });
  await cli.run(['keys', 'create', '--name', 'shop']);
  await cli.run(['keys', 'create', '--name', 'old']);
  await cli.run(['keys', 'revoke', '2']);
});

/** A store that a server could use as it is: it has an active key, a revoked key and a pet. */
async function withKey(): Promise<CommandLine> {
  const cli = await withKeys();
  chmodSync(cli.path, 0o600);
  return cli;
}

describe('doctor', () => {
  test('reports the facts of a sound store', async () => {
    const cli = await withKey();
    expect(await reportOf(cli)).toEqual({
      version: '1.2.3',
      node: process.version,
      database: {
        source: 'DATABASE_URL',
        scheme: 'sqlite',
        location: cli.path,
        exists: true,
        schemaVersion: MIGRATIONS.length,
        supportedSchemaVersion: MIGRATIONS.length,
        isSound: true,
        bytes: statSync(cli.path).size,
        pets: 1,
        apiKeys: { total: 2, active: 1 },
        idempotencyRecords: 0,
        freeBytes: expect.any(Number),
      },
      backup: null,
      settings: [expect.objectContaining({ name: 'DATABASE_URL' })],
      status: 0,
      errors: [],
      warnings: [],
    });
  });

  test('prints the facts as lines', async () => {
    const cli = await withKey();
    const { status, out, err } = await cli.run(['doctor']);
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain(`store        ${cli.path}\nselected by  DATABASE_URL\nexists       yes\n`);
    expect(out).toMatch(/^version {6}1\.2\.3, Node\.js \d/);
    expect(out).toMatch(/^integrity {4}ok$/m);
    expect(out).toMatch(/^keys {9}2, of which 1 active$/m);
    expect(out).toMatch(/^records {6}0 of idempotency keys$/m);
    expect(out.endsWith('\n\nNo problem was found.\n')).toBe(true);
  });

  test('reports a store that a server has open', async () => {
    const cli = await withKey();
    const storage = openStorage(cli.path);
    await storage.pets.add({ name: 'In the log', categoryId: 1n, status: 'sold' });
    const pet = { name: 'With a key', categoryId: 1n, status: 'sold' } as const;
    await storage.idempotentCreates.add(pet, { caller: '1', key: 'a', at: 1, validUntil: 2 });
    const report = await reportOf(cli);
    const database = { pets: 3, isSound: true, idempotencyRecords: 1 };
    expect(report).toMatchObject({ status: 0, errors: [], database });
    await storage.check();
  });

  test('reports a store whose server was killed, and keeps its write-ahead log', async () => {
    const cli = await withKey();
    const storage = openSqliteStorage(cli.path);
    await storage.pets.add({ name: 'In the log', categoryId: 1n, status: 'sold' });
    const crashed = commandLine();
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(cli.path + suffix, crashed.path + suffix);
    await storage.close();
    chmodSync(crashed.path, 0o600);
    const log = readFileSync(`${crashed.path}-wal`);
    const { out } = await crashed.run(['doctor', '--json']);
    expect(JSON.parse(out)).toMatchObject({ database: { pets: 2, isSound: true } });
    expect(readFileSync(`${crashed.path}-wal`).equals(log)).toBe(true);
  });

  test('creates no store, and no folder', async () => {
    const folder = temporaryFolder();
    const cli = commandLine(join(folder, 'no', 'pets.db'));
    const { status, out, err } = await cli.run(['doctor']);
    expect([status, err]).toEqual([1, 'animal-store: 1 error found\n']);
    expect(out).toContain(
      `error        ${cli.path}: there is no such file: the start of a server creates it`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('says that no store can be created below a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const cli = commandLine(join(file, 'no', 'pets.db'));
    const { out } = await cli.run(['doctor']);
    expect(out).toContain(
      `error        ${cli.path} cannot be created: ${file} is not a folder: correct the path`,
    );
    expect(out).not.toContain('creates it');
  });
});

describe('doctor finds', () => {
  const edit = (sql: string) => (path: string) => void new Database(path).exec(sql).close();

  test('every invalid variable', async () => {
    const environment = { PORT: 'x', API_KEYS: 'short', LOG_LEVEL: 'loud' };
    const { status, errors } = await reportOf(await withKey(), environment);
    expect(status).toBe(1);
    expect(errors).toEqual([
      "PORT: expected an integer from 0 to 65535, got 'x'",
      'API_KEYS: key 1 of 1 is invalid: expected 32 or more visible ASCII characters in each, and commas between keys',
      "LOG_LEVEL: expected one of silent, error, warn, info, debug, got 'loud'",
    ]);
  });

  test('an invalid database URL, without showing a password', async () => {
    const report = await diagnose({}, 'mysql://me:hunter2@db.example/pets', 'animal-store');
    expect(report).toMatchObject({ source: undefined, database: undefined });
    expect(report.problems).toEqual([
      {
        severity: 'error',
        message:
          "--database-url: expected sqlite:PATH or memory: or postgres://HOST/DATABASE or https://HOST/v1, got 'mysql:…'",
      },
    ]);
    const { out } = await commandLine().run(['doctor', '--json'], { environment: { DATABASE_URL: 'x' } });
    expect(JSON.parse(out)).toMatchObject({ database: null, problems: [{ severity: 'error' }] });
  });

  test('that no key is valid', async () => {
    const cli = await withKey();
    await cli.run(['keys', 'revoke', '1']);
    const message = 'no API key is valid: animal-store keys create --name NAME creates one';
    expect((await reportOf(cli)).errors).toEqual([message]);
    expect((await reportOf(cli, { API_KEYS: OPERATOR_KEY })).errors).toEqual([]);
  });

  test('that no key would be created', async () => {
    const cli = await withRex();
    expect((await reportOf(cli)).errors).toEqual([]);
    expect((await reportOf(cli, { FIRST_KEY: 'none' })).errors).toEqual([
      'the store has no API key, and FIRST_KEY is none: animal-store keys create --name NAME creates one',
    ]);
  });

  test('permissions that are too wide, unless the folder is closed', async () => {
    const cli = await withKey();
    chmodSync(dirname(cli.path), 0o755);
    chmodSync(cli.path, 0o644);
    expect(await reportOf(cli)).toMatchObject({
      status: 0,
      errors: [],
      warnings: [`every user of this machine may read ${cli.path}: chmod o-r ${cli.path}`],
    });
    chmodSync(cli.path, 0o666);
    expect(await reportOf(cli)).toMatchObject({
      status: 1,
      errors: [`every user of this machine may change ${cli.path}: chmod o-w ${cli.path}`],
    });
    chmodSync(dirname(cli.path), 0o700);
    expect(await reportOf(cli)).toMatchObject({ status: 0, errors: [], warnings: [] });
  });

  test.each([
    ['a text', (path: string) => writeFileSync(path, 'x'.repeat(9000)), 'is not a SQLite database', false],
    [
      'the database of another application',
      edit('PRAGMA application_id = 7'),
      'is the database of another',
      null,
    ],
    [
      'a store of a newer release',
      edit('PRAGMA user_version = 99'),
      `has schema version 99, this release supports ${MIGRATIONS.length}`,
      true,
    ],
    ['an empty file with a log', emptyWithLog, 'is empty, but has a write-ahead log', false],
    [
      'a directory',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
      'is not a regular file',
      null,
    ],
  ])('%s', async (_, change, message, isSound) => {
    const cli = await withKey();
    change(cli.path);
    const { status, out } = await cli.run(['doctor', '--json']);
    const { database, problems } = JSON.parse(out);
    expect(status).toBe(1);
    expect(database.isSound).toBe(isSound);
    expect(problems.map((problem: { message: string }) => problem.message).join()).toContain(message);
  });

  test('damaged pages', async () => {
    const cli = await withKey();
    await cli.run(['import', '--create-store', '-'], { stdin: line('x'.repeat(200)).repeat(2000) });
    const bytes = readFileSync(cli.path);
    bytes.fill(0x55, bytes.length - 20_000, bytes.length - 8000);
    writeFileSync(cli.path, bytes);
    const { status, errors, database } = await reportOf(cli);
    expect([status, database['isSound']]).toEqual([1, false]);
    expect(errors[0]).toMatch(/pets\.db(:.* damaged| is damaged)/);
  });

  test('an empty file, which a server can use', async () => {
    const cli = commandLine();
    writeFileSync(cli.path, '', { mode: 0o600 });
    expect(await reportOf(cli)).toMatchObject({
      status: 0,
      errors: [],
      database: { pets: 0, isSound: true },
    });
  });

  test('an unfinished transaction', async () => {
    const cli = await withKey();
    writeFileSync(`${cli.path}-journal`, 'x');
    const { warnings } = await reportOf(cli);
    expect(warnings.join()).toContain('has an unfinished transaction');
  });

  test('the journal of a process that was killed before its transaction began is no problem', async () => {
    const cli = await withKey();
    // SQLite writes zeros in place of the header until the journal is durable.
    writeFileSync(`${cli.path}-journal`, Buffer.alloc(4616));
    expect(await reportOf(cli)).toMatchObject({ warnings: [], database: { isSound: true, pets: 1 } });
    const storage = openStorage(cli.path);
    await storage.check();
    await storage.close();
    expect(await reportOf(cli)).toMatchObject({ warnings: [], database: { isSound: true, pets: 1 } });
  });

  test.skipIf(!canMount)(`a disk that is nearly full${mountNote}`, async () => {
    const { folder } = new SmallDisk('1m');
    const cli = commandLine(join(folder, 'pets.db'));
    await cli.run(['import', '--create-store', '-']);
    expect((await reportOf(cli)).errors).toEqual([`the disk of ${folder} has only 0 MiB left`]);
  });

  test.skipIf(!canMount)(`a file system that is read-only${mountNote}`, async () => {
    const disk = new SmallDisk('200m');
    const { folder } = disk;
    const cli = commandLine(join(folder, 'pets.db'));
    await cli.run(['import', '--create-store', '-']);
    disk.makeReadOnly();
    const { status, errors } = await reportOf(cli);
    expect(status).toBe(1);
    expect(errors).toContain(`the file system of ${cli.path} is read-only`);
    expect(errors).toContain(`the file system of ${folder} is read-only`);
  });
});

test('doctor does not know whether an unreachable PostgreSQL server has a store', async () => {
  const environment = { DATABASE_URL: 'postgres://127.0.0.1:1/pets?query_timeout=60000', FIRST_KEY: 'none' };
  const { status, out } = await commandLine().run(['doctor'], { environment });
  expect(status).toBe(1);
  expect(out).toContain('exists       unknown\n');
  expect(out.split('\n\n')[1]).toBe(
    'error        127.0.0.1:1/pets: the connection to the database failed: connect ECONNREFUSED 127.0.0.1:1\n',
  );
  const json = await commandLine().run(['doctor', '--json'], { environment });
  expect(JSON.parse(json.out)).toMatchObject({ database: { exists: null } });
});

test('doctor accepts memory:', async () => {
  const { problems, database, source } = await diagnose({}, 'memory:', 'animal-store');
  expect([source, database?.location]).toEqual(['--database-url', 'memory:']);
  expect(problems).toEqual([
    {
      severity: 'warning',
      message: 'the data is lost when the server ends: set DATABASE_URL to sqlite:PATH to keep it',
    },
  ]);
});
