/** A server that asks for a password, or for TLS with a certificate of its own authority. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import {
  canRunPostgres,
  describePostgres,
  openClient,
  type PostgresServer,
  postgresNote,
  startPostgres,
} from '../../support/postgres/index.ts';
import { serverUser } from '../../support/postgres/server.ts';
import { startTunnel } from '../../support/postgres/tunnel.ts';
import { changed, endConnectionsOf, named, openStorage, REX } from './database.ts';
import { refusalOf } from './refusal.ts';

const PASSWORD = 'hunter2-of-the-test';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const note = hasOpenssl ? '' : ' (skipped: no openssl)';

/** PostgreSQL applies the first line that matches a connection. */
const RULES = [
  'host all postgres all trust',
  'host all nobody all reject',
  'host all keeper all scram-sha-256',
  'hostssl all secure all trust',
];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
let postgres: PostgresServer;

/** Makes a certificate authority, and a certificate that it has issued for 127.0.0.1. */
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
  if (!canRunPostgres) return;
  postgres = await startPostgres({ password_encryption: 'scram-sha-256', ...tlsSettings() });
  const client = await openClient(postgres.url);
  await client.query(`CREATE ROLE keeper LOGIN PASSWORD '${PASSWORD}' SUPERUSER`);
  await client.query('CREATE ROLE secure LOGIN SUPERUSER');
  const { rows } = await client.query<{ path: string }>("SELECT current_setting('hba_file') AS path");
  const rules = RULES.filter((rule) => hasOpenssl || !rule.startsWith('hostssl'));
  const lines = rules.map((rule) => `'${rule}'`).join();
  await client.query(`COPY (SELECT unnest(ARRAY[${lines}])) TO '${rows[0]?.path}'`);
  await client.query('SELECT pg_reload_conf()');
  await vi.waitFor(() => expect(openClient(urlOf('nobody'))).rejects.toThrow('rejects'), 100_000);
  await client.end();
});

afterEach(() => void vi.unstubAllEnvs());

afterAll(async () => {
  await postgres?.close();
  rmSync(folder, { recursive: true });
});

describePostgres('a server with passwords', () => {
  test('refuses a wrong password and no password, and no message contains it', async () => {
    expect(await refusalOf(urlOf('keeper', `${PASSWORD}-wrong`))).toMatch(
      /: the database server refused the login \(28P01\): password authentication failed for user "keeper"$/,
    );
    const [none, rejected] = [await refusalOf(urlOf('keeper')), await refusalOf(urlOf('nobody', PASSWORD))];
    expect(none).toMatch(/: the database server asks for a password, and the URL has none$/);
    expect(rejected).toMatch(/refused the login \(28000\): pg_hba\.conf rejects/);
    const storage = await openStorage(urlOf('keeper', PASSWORD));
    expect(await storage.pets.add(REX)).toMatchObject(REX);
  });

  test('a new connection has the current password', async () => {
    const admin = await openClient(postgres.url);
    onTestFinished(async () => {
      await admin.query(`ALTER ROLE keeper PASSWORD '${PASSWORD}'`);
      await admin.end();
    });
    let password = PASSWORD;
    const currentUrl = () => urlOf('keeper', password);
    const storage = await openStorage(currentUrl(), { currentUrl });
    await admin.query("ALTER ROLE keeper PASSWORD 'changed'");
    await endConnectionsOf(admin, urlOf('keeper'));
    await expect(storage.pets.find(1n)).rejects.toMatchObject({ reason: 'unreachable' });
    password = 'changed';
    await storage.pets.find(1n);
    expect(await importPets(storage, inBatches([]))).toBe(0);
  });

  test('while the current password cannot be read, calls fail with 503, and no connection stays open', async () => {
    const open = new Set<Socket>();
    const to = { port: Number(new URL(postgres.url).port) };
    const { port } = await startTunnel(to, (client, server) => {
      open.add(client.on('close', () => open.delete(client)));
      client.pipe(server).pipe(client);
    });
    let url = changed(urlOf('keeper', PASSWORD), { port: String(port) });
    const storage = await openStorage(url, { currentUrl: () => url });
    for (const socket of open) socket.destroy();
    const whole = url;
    url = 'postgres://%';
    for (const _ of Array(3))
      await expect(storage.pets.find(1n)).rejects.toMatchObject({
        reason: 'unreachable',
        message: 'the current password of the database cannot be read',
      });
    await vi.waitFor(() => expect(open).toEqual(new Set()));
    url = whole;
    await storage.pets.find(1n);
  });

  test('the environment of the process has no effect, and neither has a password file', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    const file = join(home, '.pgpass');
    writeFileSync(file, `*:*:*:*:${PASSWORD}\n`, { mode: 0o600 });
    const all = { ...VARIABLES, PGPASSFILE: file, HOME: home };
    // A password in a variable would hide the password files, and one file hides the other.
    for (const hidden of [[], ['PGPASSWORD'], ['PGPASSWORD', 'PGPASSFILE']]) {
      for (const [name, value] of Object.entries(all)) if (!hidden.includes(name)) vi.stubEnv(name, value);
      expect(await refusalOf(urlOf('keeper'))).toMatch(/asks for a password, and the URL has none$/);
      const storage = await openStorage(postgres.url);
      const { id } = await storage.pets.add(named('Мия'));
      expect(await storage.pets.find(id)).toMatchObject(named('Мия'));
      vi.unstubAllEnvs();
    }
  });
});

/** Variables that PostgreSQL's own library or the driver reads, each with a value that would be noticed. */
const VARIABLES: Readonly<Record<string, string>> = {
  ...{ PGHOST: '192.0.2.1', PGPORT: '1', PGUSER: 'nobody', PGDATABASE: 'nowhere', PGPASSWORD: PASSWORD },
  ...{ PGSSLMODE: 'verify-full', PGSSLNEGOTIATION: 'direct', PGCLIENT_ENCODING: 'latin1' },
  ...{ PGCONNECT_TIMEOUT: '0', PGBINARY: '1', PGQUERY_TIMEOUT: '1', PGSTATEMENT_TIMEOUT: '1' },
};

describe.skipIf(!canRunPostgres || !hasOpenssl)(`a server with TLS${note || postgresNote}`, () => {
  test.each(['verify-full', 'require'])(
    'sslmode=%s encrypts, and the driver prints no warning',
    async (mode) => {
      const warn = vi.spyOn(process, 'emitWarning');
      onTestFinished(() => warn.mockRestore());
      // The server accepts this user over TLS only.
      const storage = await openStorage(secureUrl('own-ca.crt', mode));
      expect(await storage.pets.add(REX)).toMatchObject(REX);
      await storage.check();
      expect(warn).not.toHaveBeenCalled();
    },
  );

  test('a certificate of another authority is refused, and the message says what verifies it', async () => {
    for (const mode of ['verify-full', 'require'])
      expect(await refusalOf(secureUrl('other-ca.crt', mode))).toMatch(
        /^127\.0\.0\.1:\d+\/postgres: the connection to the database failed.*: with each sslmode but disable and no-verify, .* are verified, against sslrootcert or .*certificate/,
      );
  });

  test('channel_binding=require works over verified TLS, with a warning', async () => {
    const warnings: string[] = [];
    const url = `${changed(secureUrl('own-ca.crt', 'require'), { username: 'keeper', password: PASSWORD })}&channel_binding=require`;
    const storage = await openStorage(url, { observer: { onWarning: (message) => warnings.push(message) } });
    expect(await storage.pets.add(REX)).toMatchObject(REX);
    const warning = /^channel_binding=require: .* does not require it$/;
    expect(warnings).toContainEqual(expect.stringMatching(warning));
  });
});
