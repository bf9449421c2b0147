/** A PostgreSQL server that accepts only TLS, with a certificate of its own authority. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import {
  canStartPostgres,
  type PostgresServer,
  startPostgres,
  startPostgresNote,
} from '../../support/postgres/index.ts';
import { serverUser } from '../../support/postgres/server.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const note = hasOpenssl ? startPostgresNote : ' (skipped: no openssl)';

/** Makes an authority, and a certificate of it for 127.0.0.1. */
function makeCertificates(folder: string, name: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    `${name}-ca.key`,
    '-out',
    `${name}-ca.crt`,
    '-subj',
    `/CN=${name}`,
  );
  const host = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const authority = ['-CA', `${name}-ca.crt`, '-CAkey', `${name}-ca.key`];
  openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.crt`, ...host, ...authority);
}

describe.skipIf(!canStartPostgres || !hasOpenssl)(`PostgreSQL with TLS${note}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  let postgres: PostgresServer;

  beforeAll(async () => {
    for (const name of ['own', 'other']) makeCertificates(folder, name);
    const { uid, gid } = serverUser();
    if (uid !== undefined && gid !== undefined) {
      for (const path of ['', ...readdirSync(folder)]) chownSync(join(folder, path), uid, gid);
    }
    const settings = {
      ssl: 'on',
      ssl_cert_file: join(folder, 'own.crt'),
      ssl_key_file: join(folder, 'own.key'),
    };
    postgres = await startPostgres({ settings });
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query('SHOW hba_file');
    await client.query(`COPY (SELECT 'hostssl all all all trust') TO '${rows[0].hba_file}'`);
    await client.query('SELECT pg_reload_conf()');
    await client.end();
  });

  afterAll(async () => {
    await postgres.close();
    rmSync(folder, { recursive: true });
  });

  const urlWith = (parameters: string) => `${postgres.url}?${parameters}`;
  const authority = (name: string) => `sslmode=verify-full&sslrootcert=${join(folder, `${name}-ca.crt`)}`;

  test('works over TLS, and the driver prints no warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning');
    const storage = await openPostgresStorage(urlWith(authority('own')));
    const pet = await storage.pets.add(samplePet('Rex'));
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    await storage.check();
    const client = new Client({ connectionString: urlWith(authority('own')) });
    await client.connect();
    const { rows } = await client.query(
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'animal-store'",
    );
    await client.end();
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.every(({ ssl }) => ssl)).toBe(true);
    await storage.close();
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('a certificate of another authority is refused', async () => {
    await expect(openPostgresStorage(urlWith(authority('other')))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+\/postgres: the connection to the database failed .*certificate/,
      ),
    });
  });

  test('a connection without TLS is refused with a clear message', async () => {
    await expect(openPostgresStorage(postgres.url)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringMatching(
        /: the database server refused the login \(28000\): no pg_hba\.conf entry .* no encryption$/,
      ),
    });
  });

  test('a missing file of certificates is named', async () => {
    await expect(
      openPostgresStorage(urlWith('sslmode=verify-full&sslrootcert=/no/such/file')),
    ).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('/no/such/file'),
    });
  });
});
