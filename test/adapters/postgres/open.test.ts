import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import {
  canRunPostgres,
  canStartPostgres,
  newDatabaseUrl,
  postgresNote,
  startPostgresNote,
} from '../../support/postgres/index.ts';
import { changed, connect, openStorage, REX, startServer } from './database.ts';

const PASSWORD = 'hunter2-of-the-test';

/** Returns the error of an attempt to open, which has one line and no password. */
async function refusalOf(url: string, mustExist = false): Promise<string> {
  const error = await openPostgresStorage(url, { mustExist }).then(
    async (storage) => {
      await storage.close();
      throw new Error('the storage was opened');
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AnimalStoreError);
  expect(error).toMatchObject({ code: 'storage_unavailable' });
  const { message } = error as Error;
  expect(message).not.toMatch(/\n|: $/);
  expect(message).not.toContain(PASSWORD);
  const diagnosis = await examinePostgresStore(url).catch((reason: Error) => reason.message);
  const problems = typeof diagnosis === 'string' ? [{ message: diagnosis }] : diagnosis.problems;
  for (const problem of problems) {
    expect(problem.message).not.toMatch(/\n|: $/);
    expect(problem.message).not.toContain(PASSWORD);
  }
  return message;
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

describe.skipIf(!canRunPostgres)(`openPostgresStorage${postgresNote}`, () => {
  test('creates one schema when ten storages are opened at once', async () => {
    const url = await newDatabaseUrl();
    const storages = await Promise.all(Array.from({ length: 10 }, () => openStorage(url)));
    const ids = await Promise.all(storages.map(async ({ pets }) => (await pets.add(REX)).id));
    expect(new Set(ids).size).toBe(10);
    const { rows } = await (await connect(url)).query('SELECT * FROM animal_store_schema');
    expect(rows).toEqual([{ only_row: true, version: 1, probed_at: null }]);
  });

  test('leaves no connection when it fails', async () => {
    const url = await newDatabaseUrl();
    const other = await connect(url);
    await other.query('CREATE TABLE pets (name text)');
    for (let count = 0; count < 3; count++) await refusalOf(url);
    const sql = 'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()';
    await expect.poll(async () => (await other.query(sql)).rows).toEqual([{ count: 1 }]);
  });

  test('refuses a database that a newer release has written', async () => {
    const url = await newDatabaseUrl();
    await (await openPostgresStorage(url)).close();
    await (await connect(url)).query('UPDATE animal_store_schema SET version = 7');
    expect(await refusalOf(url)).toMatch(
      /^[^ ]+: the database has schema version 7, this release supports 1: use the release that wrote it, or a newer one$/,
    );
  });

  test('refuses a database with a table pets of another application, and changes nothing', async () => {
    const url = await newDatabaseUrl();
    const other = await connect(url);
    await other.query('CREATE TABLE pets (name text)');
    expect(await refusalOf(url)).toMatch(/: the database has a table pets of another application$/);
    const { rows } = await other.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    expect(rows).toEqual([{ tablename: 'pets' }]);
  });

  test('creates no store when the store must exist', async () => {
    const url = await newDatabaseUrl();
    expect(await refusalOf(url, true)).toMatch(/: the database contains no store$/);
    expect(await examinePostgresStore(url)).toMatchObject({ exists: false, problems: [] });
    await (await openPostgresStorage(url)).close();
    await openStorage(url, { mustExist: true });
  });

  test('refuses a database whose encoding cannot represent all names', async () => {
    const url = await newDatabaseUrl();
    const name = `${databaseOf(url)}_latin1`;
    const other = await connect(url);
    await other.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    onTestFinished(async () => {
      const client = await connect(url);
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    });
    expect(await refusalOf(changed(url, { pathname: name }))).toMatch(
      /: the database has the encoding LATIN1, the store needs UTF8$/,
    );
  });

  test('names a database that does not exist', async () => {
    const url = changed(await newDatabaseUrl(), { pathname: 'absent', password: PASSWORD });
    expect(await refusalOf(url)).toMatch(
      /\/absent: the database does not exist \(3D000\): database "absent" does not exist$/,
    );
  });

  test('says when the user may not create tables', async () => {
    const url = await newDatabaseUrl();
    const role = `role_${databaseOf(url)}`;
    const other = await connect(url);
    await other.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
    const message = await refusalOf(changed(url, { username: role, password: PASSWORD }));
    await other.query(`DROP ROLE ${role}`);
    expect(message).toMatch(
      /: the database user lacks a privilege \(42501\): permission denied for schema public$/,
    );
  });
});

test.each([
  ['postgres://me:hunter2-of-the-test@127.0.0.1:1/pets', /^127\.0\.0\.1:1\/pets: .*\(ECONNREFUSED\)/],
  ['postgres://me:hunter2-of-the-test@localhost:1/pets', /^localhost:1\/pets: .*\(ECONNREFUSED\)/],
  [
    'postgres://me:hunter2-of-the-test@no-such-host.invalid/pets',
    /^no-such-host\.invalid:5432\/pets: .*\((ENOTFOUND|EAI_AGAIN)\)/,
  ],
  ['postgres://me:hunter2-of-the-test@host:99999999/pets', /^the URL of the database is invalid/],
  [
    'postgres://me:hunter2-of-the-test@host/pets?sslmode=verify-full&sslrootcert=/absent/ca.pem',
    /\/absent\/ca\.pem/,
  ],
])('a server that cannot be reached is refused in one line: %s', async (url, expected) => {
  expect(await refusalOf(url)).toMatch(expected);
});

describe.skipIf(!canStartPostgres)(`a server with passwords${startPostgresNote}`, () => {
  test('refuses a wrong password and no password, and no message contains it', async () => {
    const server = await startServer({ password_encryption: 'scram-sha-256' });
    const client = await connect(server.url);
    await client.query(`CREATE ROLE keeper LOGIN PASSWORD '${PASSWORD}' SUPERUSER`);
    const { rows } = await client.query<{ path: string }>("SELECT current_setting('hba_file') AS path");
    await client.query(
      `COPY (SELECT 'host all postgres all trust' UNION ALL SELECT 'host all nobody all reject' UNION ALL SELECT 'host all all all scram-sha-256') TO '${rows[0]?.path}'`,
    );
    await client.query('SELECT pg_reload_conf()');
    await delay(200);
    const as = (username: string, password = '') => changed(server.url, { username, password });
    expect(await refusalOf(as('keeper', `${PASSWORD}-wrong`))).toMatch(
      /: the database server refused the login \(28P01\): password authentication failed for user "keeper"$/,
    );
    expect(await refusalOf(as('keeper'))).toMatch(/password/);
    expect(await refusalOf(as('nobody', PASSWORD))).toMatch(
      /refused the login \(28000\): pg_hba\.conf rejects/,
    );
    const storage = await openStorage(as('keeper', PASSWORD));
    expect(await storage.pets.add(REX)).toMatchObject(REX);
  });

  test('without durable commits is used with a warning', async () => {
    const server = await startServer({ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' });
    const warnings: string[] = [];
    await openStorage(server.url, { observer: { onWarning: (message) => warnings.push(message) } });
    const expected = ['fsync', 'full_page_writes', 'synchronous_commit'].map(
      (name) => `${name} is off: a crash of the database server can lose acknowledged pets`,
    );
    expect(warnings.toSorted()).toEqual(expected);
    const { problems, exists } = await examinePostgresStore(server.url);
    expect(exists).toBe(true);
    expect(problems.toSorted((a, b) => (a.message < b.message ? -1 : 1))).toEqual(
      expected.map((message) => ({ severity: 'warning', message })),
    );
  });
});
