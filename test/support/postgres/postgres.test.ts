/** The test server of PostgreSQL: databases, a restart, a pause, and the end of the server. */

import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { runCommand, temporaryFolder } from '../process.ts';
import {
  canRunPostgres,
  canStartPostgres,
  newDatabaseUrl,
  type PostgresServer,
  postgresNote,
  startPostgres,
  startPostgresNote,
} from './index.ts';

const MAX_INT64 = '9223372036854775807';

/** Starts a server, and does not stop it. */
const PROGRAM = `
  import { startPostgres } from '${new URL('server.ts', import.meta.url)}';
  console.log((await startPostgres()).url);
  setInterval(() => {}, 1000);
`;

/** Creates a folder in which another user can have files. */
function publicFolder(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  return folder;
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function started(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const server = await startPostgres({ settings });
  onTestFinished(() => server.close());
  return server;
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function processesOf(client: Client): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  return rows.map(({ pid }) => pid);
}

describe.skipIf(!canRunPostgres)(`the PostgreSQL server of the tests${postgresNote}`, () => {
  test('has an empty database for each test', async () => {
    const [first, second] = await Promise.all([newDatabaseUrl(), newDatabaseUrl()]);
    expect(first).not.toBe(second);
    const one = await connected(first);
    await one.query('CREATE TABLE numbers (value int8)');
    await one.query('INSERT INTO numbers VALUES ($1)', [MAX_INT64]);
    expect((await one.query('SELECT value FROM numbers')).rows).toEqual([{ value: MAX_INT64 }]);
    const other = await connected(second);
    await expect(other.query('SELECT value FROM numbers')).rejects.toMatchObject({ code: '42P01' });
  });

  test('uses UTF-8, and sorts by code point', async () => {
    const client = await connected(await newDatabaseUrl());
    const { rows } = await client.query(
      'SELECT pg_encoding_to_char(encoding) AS encoding, datcollate FROM pg_database WHERE datname = current_database()',
    );
    expect(rows).toEqual([{ encoding: 'UTF8', datcollate: 'C' }]);
  });
});

describe.skipIf(!canStartPostgres)(`a PostgreSQL server of one test${startPostgresNote}`, () => {
  test('writes to the disk at each commit, and takes other settings', async () => {
    const client = await connected((await started({ max_connections: '7' })).url);
    expect((await client.query('SHOW fsync')).rows).toEqual([{ fsync: 'on' }]);
    expect((await client.query('SHOW max_connections')).rows).toEqual([{ max_connections: '7' }]);
  });

  test.each(['fast', 'immediate'] as const)('keeps its data and its URL after a stop: %s', async (mode) => {
    const server = await started();
    const before = await connected(server.url);
    await before.query('CREATE TABLE numbers (value int8)');
    await before.query('INSERT INTO numbers VALUES ($1)', [MAX_INT64]);
    const processes = [server.pid, ...(await processesOf(before))];
    expect(processes.length).toBeGreaterThan(4);
    await server.stop(mode);
    expect(processes.filter(exists)).toEqual([]);
    await expect(new Client({ connectionString: server.url }).connect()).rejects.toThrow();
    await server.start();
    const after = await connected(server.url);
    expect((await after.query('SELECT value FROM numbers')).rows).toEqual([{ value: MAX_INT64 }]);
  });

  test('does not respond while it is frozen', async () => {
    const server = await started();
    const client = await connected(server.url);
    server.freeze();
    let hasResponse = false;
    const response = client.query('SELECT 1 AS one').finally(() => {
      hasResponse = true;
    });
    const attempt = new Client({ connectionString: server.url, connectionTimeoutMillis: 300 });
    attempt.on('error', () => {});
    await expect(attempt.connect()).rejects.toThrow('timeout');
    expect(hasResponse).toBe(false);
    server.thaw();
    expect((await response).rows).toEqual([{ one: 1 }]);
  });

  test('stops while it is frozen', async () => {
    const server = await started();
    const { pid } = server;
    server.freeze();
    await server.stop('fast');
    expect(exists(pid)).toBe(false);
    expect(() => server.pid).toThrow('The server does not run.');
  });

  test('leaves no process and no folder after close', async () => {
    const server = await startPostgres();
    const client = await connected(server.url);
    const { rows } = await client.query<{ folder: string }>(
      "SELECT current_setting('data_directory') AS folder",
    );
    const folder = rows[0]?.folder ?? '';
    const { pid } = server;
    expect(existsSync(folder)).toBe(true);
    await server.close();
    expect(exists(pid)).toBe(false);
    expect(existsSync(join(folder, '..'))).toBe(false);
  });

  test('ends, and its folder is removed, after SIGKILL has ended the test process', async () => {
    const TMPDIR = publicFolder();
    const { child, out } = runCommand(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      env: { TMPDIR },
    });
    await vi.waitFor(() => expect(out.stdout + out.stderr).toMatch(/^postgres:.*\n$/), 20_000);
    const url = out.stdout.trim();
    await connected(url);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(readdirSync(TMPDIR)).toEqual([]), 20_000);
    await expect(new Client({ connectionString: url }).connect()).rejects.toThrow('ECONNREFUSED');
  });

  test('that cannot start says why, and leaves no folder', async () => {
    const folder = publicFolder();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(startPostgres({ settings: { max_connections: 'many' } })).rejects.toThrow(
      /PostgreSQL did not start: .*invalid value for parameter "max_connections": "many"/s,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});
