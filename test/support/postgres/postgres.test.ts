/** The test server of PostgreSQL: schemas, a restart, a pause, and the end of the server. */

import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Client } from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { runCommand, temporaryFolder } from '../process.ts';
import {
  canRunPostgres,
  canStartPostgres,
  connect,
  newDatabaseUrl,
  newUserUrl,
  openClient,
  postgresNote,
  startPostgres,
  startPostgresNote,
} from './index.ts';

const MAX_INT64 = '9223372036854775807';

/** Starts a process that a guard ends, and does not end itself. */
const PROGRAM = `
  import { spawn } from 'node:child_process';
  import { mkdtempSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { Guard } from '${new URL('guard.ts', import.meta.url)}';
  const guard = new Guard(mkdtempSync(join(tmpdir(), 'animal-store-')));
  const { pid } = spawn('sleep', ['1000'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
  guard.watch(pid);
  console.log('started');
  setInterval(() => {}, 1000);
`;

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
  test('has an empty schema for each test', async () => {
    const [first, second] = await Promise.all([newDatabaseUrl(), newDatabaseUrl()]);
    expect(first).not.toBe(second);
    const one = await connect(first);
    await one.query('CREATE TABLE numbers (value int8)');
    await one.query('INSERT INTO numbers VALUES ($1)', [MAX_INT64]);
    expect((await one.query('SELECT value FROM numbers')).rows).toEqual([{ value: MAX_INT64 }]);
    const other = await connect(second);
    await expect(other.query('SELECT value FROM numbers')).rejects.toMatchObject({ code: '42P01' });
  });

  test('has users with privileges on a schema', async () => {
    const url = await newDatabaseUrl();
    await (await connect(await newUserUrl(url, 'ALL'))).query('CREATE TABLE numbers (value int8)');
    const other = await connect(await newUserUrl(url, 'USAGE'));
    await expect(other.query('CREATE TABLE others (value int8)')).rejects.toMatchObject({ code: '42501' });
  });

  test('uses UTF-8, and sorts by code point', async () => {
    const client = await connect(await newDatabaseUrl());
    const { rows } = await client.query(
      'SELECT pg_encoding_to_char(encoding) AS encoding, datcollate FROM pg_database WHERE datname = current_database()',
    );
    expect(rows).toEqual([{ encoding: 'UTF8', datcollate: 'C' }]);
  });
});

describe.skipIf(!canStartPostgres)(`a PostgreSQL server of one test${startPostgresNote}`, () => {
  test('stops, crashes, freezes, starts again, and leaves nothing', async () => {
    const server = await startPostgres({ settings: { max_connections: '7' } });
    const { url } = server;
    const first = await openClient(url);
    expect((await first.query('SHOW fsync')).rows).toEqual([{ fsync: 'on' }]);
    expect((await first.query('SHOW max_connections')).rows).toEqual([{ max_connections: '7' }]);
    await first.query(`CREATE TABLE numbers AS SELECT ${MAX_INT64} AS value`);
    const { rows } = await first.query<{ folder: string }>('SHOW data_directory');
    const folder = join(Object.values(rows[0] ?? {})[0] ?? '', '..');
    expect(existsSync(folder)).toBe(true);
    for (const mode of ['fast', 'immediate'] as const) {
      const client = await openClient(url);
      const processes = [server.pid, ...(await processesOf(client))];
      expect(processes.length).toBeGreaterThan(4);
      if (mode === 'fast') server.freeze();
      await server.stop(mode);
      expect(processes.filter(exists)).toEqual([]);
      expect(() => server.pid).toThrow('The server does not run.');
      await expect(openClient(url)).rejects.toThrow('ECONNREFUSED');
      if (mode === 'immediate') break;
      await server.start();
    }
    const { port } = new URL(url);
    const blocker = createServer((socket) => socket.destroy()).listen(Number(port), '127.0.0.1');
    await once(blocker, 'listening');
    await expect(server.start()).rejects.toThrow(/PostgreSQL did not start: .*Address already in use/s);
    await new Promise((resolve) => blocker.close(resolve));
    await server.start();
    const last = await openClient(url);
    expect((await last.query('SELECT value FROM numbers')).rows).toEqual([{ value: MAX_INT64 }]);
    server.freeze();
    let hasResponse = false;
    const response = last.query('SELECT 1 AS one').finally(() => {
      hasResponse = true;
    });
    const attempt = new Client({ connectionString: url, connectionTimeoutMillis: 200 });
    attempt.on('error', () => {});
    await expect(attempt.connect()).rejects.toThrow('timeout');
    expect(hasResponse).toBe(false);
    server.thaw();
    expect((await response).rows).toEqual([{ one: 1 }]);
    const { pid } = server;
    await server.close();
    expect(exists(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  test('has a guard that ends it and removes its folder after SIGKILL has ended the test process', async () => {
    const TMPDIR = temporaryFolder();
    const { child, out } = runCommand(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      env: { TMPDIR },
    });
    await vi.waitFor(() => expect(out.stdout).toBe('started\n'), 20_000);
    expect(readdirSync(TMPDIR)).toHaveLength(1);
    // The process holds this pipe too.
    const closed = once(child.stdout as Readable, 'close');
    child.kill('SIGKILL');
    await closed;
    await vi.waitFor(() => expect(readdirSync(TMPDIR)).toEqual([]), 20_000);
  });
});
