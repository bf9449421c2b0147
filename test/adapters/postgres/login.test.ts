/** A server that asks for a password, or for TLS with a certificate of its own authority. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import {
  canStartPostgres,
  connect,
  openClient,
  type PostgresServer,
  startPostgres,
  startPostgresNote,
} from '../../support/postgres/index.ts';
import { serverUser } from '../../support/postgres/server.ts';
import { changed, openStorage, REX } from './database.ts';
import { refusalOf } from './refusal.ts';

const PASSWORD = 'hunter2-of-the-test';

/** The user of a URL that names none. It is not the user of the administrator. */
const OWN_USER = userInfo().username;
const hasOwnUser = OWN_USER !== 'postgres';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const note = hasOpenssl ? '' : ' (skipped: no openssl)';

/** The first line that fits a connection decides about it. */
const RULES = [
  'host all postgres all trust',
  'host all nobody all reject',
  'host all keeper all scram-sha-256',
  `host all "${OWN_USER}" all trust`,
  'hostssl all secure all trust',
];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
let postgres: PostgresServer;

/** Makes an authority, and a certificate of it for 127.0.0.1. */
function makeCertificates(name: string): void {
  const openssl = (options: string) =>
    execFileSync('openssl', options.split(' '), { cwd: folder, stdio: 'ignore' });
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const authority = `${name}-ca.key -out ${name}-ca.crt -subj /CN=${name}`;
  openssl(`${request} -keyout ${authority}`);
  const host = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1';
  const issuer = `-CA ${name}-ca.crt -CAkey ${name}-ca.key`;
  openssl(`${request} -keyout ${name}.key -out ${name}.crt ${host} ${issuer}`);
}

function tlsSettings(): Readonly<Record<string, string>> {
  if (!hasOpenssl) return {};
  for (const name of ['own', 'other']) makeCertificates(name);
  const { uid, gid } = serverUser();
  if (uid !== undefined && gid !== undefined) {
    for (const path of ['', ...readdirSync(folder)]) chownSync(join(folder, path), uid, gid);
  }
  return { ssl: 'on', ssl_cert_file: join(folder, 'own.crt'), ssl_key_file: join(folder, 'own.key') };
}

function urlOf(username: string, password = ''): string {
  return changed(postgres.url, { username, password });
}

/** Returns the URL of a connection with TLS to a server whose certificate an authority must have issued. */
function secureUrl(authority: string, mode = 'verify-full'): string {
  return `${urlOf('secure')}&sslmode=${mode}&sslrootcert=${join(folder, authority)}`;
}

beforeAll(async () => {
  if (!canStartPostgres) return;
  postgres = await startPostgres({ settings: { password_encryption: 'scram-sha-256', ...tlsSettings() } });
  const client = await openClient(postgres.url);
  await client.query(`CREATE ROLE keeper LOGIN PASSWORD '${PASSWORD}' SUPERUSER`);
  await client.query('CREATE ROLE secure LOGIN SUPERUSER');
  const { rows } = await client.query<{ path: string }>("SELECT current_setting('hba_file') AS path");
  if (hasOwnUser) await client.query(`CREATE ROLE "${OWN_USER}" LOGIN SUPERUSER`);
  if (hasOwnUser) await client.query(`CREATE DATABASE "${OWN_USER}"`);
  const lines = RULES.filter((rule) => hasOpenssl || !rule.startsWith('hostssl'));
  await client.query(
    `COPY (SELECT unnest(ARRAY[${lines.map((line) => `'${line}'`).join()}])) TO '${rows[0]?.path}'`,
  );
  await client.query('SELECT pg_reload_conf()');
  await vi.waitFor(() => expect(openClient(urlOf('nobody'))).rejects.toThrow('rejects'), 100_000);
  await client.end();
});

afterEach(() => void vi.unstubAllEnvs());

afterAll(async () => {
  await postgres?.close();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canStartPostgres)(`a server with passwords${startPostgresNote}`, () => {
  test('refuses a wrong password and no password, and no message contains it', async () => {
    expect(await refusalOf(urlOf('keeper', `${PASSWORD}-wrong`))).toMatch(
      /: the database server refused the login \(28P01\): password authentication failed for user "keeper"$/,
    );
    expect(await refusalOf(urlOf('keeper'))).toMatch(
      /: the database server asks for a password, and the URL has none$/,
    );
    expect(await refusalOf(urlOf('nobody', PASSWORD))).toMatch(
      /refused the login \(28000\): pg_hba\.conf rejects/,
    );
    const storage = await openStorage(urlOf('keeper', PASSWORD));
    expect(await storage.pets.add(REX)).toMatchObject(REX);
  });

  test('the environment of the process has no effect', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    const file = join(home, '.pgpass');
    writeFileSync(file, `*:*:*:*:${PASSWORD}\n`, { mode: 0o600 });
    mkdirSync(join(home, 'postgresql'));
    writeFileSync(join(home, 'postgresql', 'pgpass.conf'), `*:*:*:*:${PASSWORD}\n`);
    // The first URL has all parts, and the second one has only those without a default.
    const { port, search } = new URL(postgres.url);
    const users = [
      { url: postgres.url, name: 'postgres' },
      ...(hasOwnUser ? [{ url: `postgres://localhost:${port}${search}`, name: OWN_USER }] : []),
    ];
    // The connections of the test itself depend on the environment.
    const subjects: Subject[] = [];
    for (const { url, name } of users) {
      subjects.push({ url, name, admin: await connect(changed(postgres.url, { pathname: `/${name}` })) });
    }
    // A password in a variable would hide the password files, and one file hides the other.
    const all = variables(home);
    const without = (...names: string[]) => all.filter(([name]) => !names.includes(name));
    for (const set of [all, without('PGPASSWORD'), without('PGPASSWORD', 'PGPASSFILE')]) {
      for (const [name, value] of set) vi.stubEnv(name, value);
      expect(await refusalOf(urlOf('keeper'))).toMatch(/asks for a password, and the URL has none$/);
      if (set === all) {
        for (const subject of subjects) expect(await valuesOf(subject)).toEqual(ownValues(subject));
      }
      vi.unstubAllEnvs();
    }
  });
});

/** The variables that PostgreSQL's own library or the driver reads, each with a value that would be noticed. */
function variables(home: string): readonly [name: string, value: string][] {
  return [
    ['PGHOST', '192.0.2.1'],
    ['PGPORT', '1'],
    ['PGUSER', 'nobody'],
    ['PGDATABASE', 'nowhere'],
    ['PGPASSWORD', PASSWORD],
    ['PGPASSFILE', join(home, '.pgpass')],
    ['HOME', home],
    ['APPDATA', home],
    ['USER', 'nobody'],
    ['USERNAME', 'nobody'],
    ['PGOPTIONS', '-c search_path=nowhere -c default_transaction_read_only=on'],
    ['PGSSLMODE', 'verify-full'],
    ['PGSSLNEGOTIATION', 'direct'],
    ['PGCLIENT_ENCODING', 'latin1'],
    ['PGREPLICATION', 'database'],
    ['PGAPPNAME', 'other'],
    ['PGCONNECT_TIMEOUT', '0'],
    ['PGBINARY', '1'],
    ['PGQUERY_TIMEOUT', '1'],
    ['PGSTATEMENT_TIMEOUT', '1'],
    ['PGTZ', 'Asia/Tokyo'],
    ['PGDATESTYLE', 'German'],
    ['PGTARGETSESSIONATTRS', 'standby'],
    ['DATABASE_URL', 'postgres://192.0.2.1/other'],
  ];
}

interface Subject {
  readonly url: string;
  /** The name of the user and of the database. */
  readonly name: string;
  readonly admin: Client;
}

/** Returns what a storage and an examination did and where, or the error of the first that failed. */
async function valuesOf({ url, name, admin }: Subject): Promise<unknown> {
  try {
    const storage = await openPostgresStorage(url);
    const { id } = await storage.pets.add({ ...REX, name: 'Мия' });
    const found = await storage.pets.find(id);
    const { exists, location } = await examinePostgresStore(url);
    const connections = await admin.query(
      `SELECT DISTINCT application_name AS program, datname AS database FROM pg_stat_activity
        WHERE usename = $1 AND datname = current_database() AND pid <> pg_backend_pid()`,
      [name],
    );
    const stored = await admin.query('SELECT name FROM public.pets WHERE id = $1', [id]);
    await storage.close();
    return {
      name: found?.name,
      exists,
      location: location.replace(/:\d+/, ''),
      connections: connections.rows,
      stored: stored.rows,
    };
  } catch (error) {
    return error;
  }
}

function ownValues({ url, name }: Subject): unknown {
  return {
    name: 'Мия',
    exists: true,
    location: `${url.includes('127.0.0.1') ? '127.0.0.1' : 'localhost'}/${name}`,
    connections: [{ program: 'animal-store', database: name }],
    stored: [{ name: 'Мия' }],
  };
}

describe.skipIf(!canStartPostgres || !hasOpenssl)(`a server with TLS${note || startPostgresNote}`, () => {
  test.each(['verify-full', 'require'])(
    'works with sslmode=%s, and the driver prints no warning',
    async (mode) => {
      const warn = vi.spyOn(process, 'emitWarning');
      const storage = await openStorage(secureUrl('own-ca.crt', mode));
      const pet = await storage.pets.add(REX);
      expect(await storage.pets.find(pet.id)).toEqual(pet);
      await storage.check();
      const admin = await connect(postgres.url);
      const { rows } = await admin.query(
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'animal-store'",
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.every(({ ssl }) => ssl)).toBe(true);
      await storage.close();
      expect(warn).not.toHaveBeenCalled();
      warn.mockRestore();
    },
  );

  test('a certificate of another authority is refused, and the message says what verifies it', async () => {
    for (const mode of ['verify-full', 'require']) {
      expect(await refusalOf(secureUrl('other-ca.crt', mode))).toMatch(
        /^127\.0\.0\.1:\d+\/postgres: the connection to the database failed.*: with each sslmode but disable and no-verify, .* are verified, against sslrootcert or .*certificate/,
      );
    }
  });

  test('channel_binding=require works over verified TLS, with a warning', async () => {
    const warnings: string[] = [];
    const url = `${changed(secureUrl('own-ca.crt', 'require'), { username: 'keeper', password: PASSWORD })}&channel_binding=require`;
    const storage = await openStorage(url, { observer: { onWarning: (message) => warnings.push(message) } });
    expect(await storage.pets.add(REX)).toMatchObject(REX);
    expect(warnings).toContainEqual(
      expect.stringMatching(/^channel_binding=require: .* does not require it$/),
    );
  });

  test('a connection without TLS is refused with a clear message', async () => {
    expect(await refusalOf(urlOf('secure'))).toMatch(
      /: the database server refused the login \(28000\): no pg_hba\.conf entry .* no encryption$/,
    );
  });

  test('a missing file of certificates is named', async () => {
    expect(await refusalOf(secureUrl('missing.crt'))).toContain(join(folder, 'missing.crt'));
  });
});
