/** The report of `doctor`. The tests of each adapter show what the adapter finds in its stores. */

import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../src/application/ports/maintenance.ts';
import { diagnose } from '../../../src/composition/doctor.ts';
import { temporaryFolder } from '../../support/process.ts';
import { type CommandLine, commandLine, failed, failingOutput, withRex } from './cli.ts';

/** A store that a server could use as it is: it has an active key, a revoked key and a pet. */
async function withKey(): Promise<CommandLine> {
  const cli = await withRex();
  await cli.run(['keys', 'create', '--name', 'shop']);
  await cli.run(['keys', 'create', '--name', 'old']);
  await cli.run(['keys', 'revoke', '2']);
  chmodSync(cli.path, 0o600);
  return cli;
}

async function reportOf(cli: CommandLine, environment = {}) {
  const { status, out } = await cli.run(['doctor', '--json'], { environment });
  const { problems, ...report } = JSON.parse(out);
  const found = problems.map(({ severity, message }: Problem) => `${severity}: ${message}`);
  return { ...report, status, found };
}

describe('doctor', () => {
  test('reports the settings and the facts of a sound store as JSON', async () => {
    const cli = await withKey();
    expect(await reportOf(cli, { LOG_LEVEL: 'warn' })).toMatchObject({
      version: '1.2.3',
      node: process.version,
      settings: [{ name: 'DATABASE_URL' }, { name: 'LOG_LEVEL', value: 'warn' }],
      database: {
        source: 'DATABASE_URL',
        scheme: 'sqlite',
        location: cli.path,
        exists: true,
        isSound: true,
        pets: 1,
        apiKeys: { total: 2, active: 1 },
        idempotencyRecords: 0,
        lastId: '1',
        freeBytes: expect.any(Number),
      },
      backup: null,
      status: 0,
      found: [],
    });
  });

  test('prints them as lines', async () => {
    const cli = await withKey();
    const { status, out, err } = await cli.run(['doctor']);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^version +1\.2\.3\nnode +v\d/);
    expect(out).toMatch(/^database\.source +DATABASE_URL\ndatabase\.scheme +sqlite$/m);
    expect(out).toContain(` ${cli.path}\n`);
    expect(out).toMatch(/^database\.apiKeys\.active +1$/m);
    expect(out).toMatch(/^settings\.DATABASE_URL +\S/m);
    expect(out.endsWith('\n\nNo problem was found.\n')).toBe(true);
  });

  test('warns of misspelt settings', async () => {
    const found = [expect.stringMatching(/^warning: LOG_LEVELS: .* is LOG_LEVEL meant/)];
    expect(await reportOf(await withKey(), { LOG_LEVELS: 'warn' })).toMatchObject({ status: 0, found });
  });

  test('fails for errors also when nobody reads the report', async () => {
    const unread = (cli: CommandLine) => cli.run(['doctor'], { stdout: failingOutput('EPIPE') });
    expect(await unread(commandLine())).toEqual(failed(1, '1 error found'));
    expect(await unread(await withKey())).toEqual({ status: 0, out: '', err: '' });
  });

  test('is ended by the signal', async () => {
    const end = new AbortController();
    const { run } = commandLine('', { diagnose: () => new Promise(() => setImmediate(() => end.abort())) });
    const interrupted = failed(1, 'interrupted; the output is not complete');
    expect(await run(['doctor'], { signal: end.signal })).toEqual(interrupted);
  });

  test('fails for errors only', async () => {
    const { run } = commandLine('', { diagnose: () => diagnose({ DATABASE_URL: 'memory:' }) });
    const out = expect.stringMatching(/exists +true\n.*\n\nwarning: the data is lost/s);
    expect(await run(['doctor'])).toMatchObject({ status: 0, out });
  });

  test('creates no store, and no folder', async () => {
    const folder = temporaryFolder();
    const cli = commandLine(join(folder, 'no', 'pets.db'));
    const { status, out, err } = await cli.run(['doctor']);
    expect([status, err]).toEqual([1, 'animal-store: 1 error found\n']);
    expect(out).toContain(`error: ${cli.path}: there is no such file`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('names every invalid variable', async () => {
    const environment = { PORT: 'x', API_KEYS: 'short', LOG_LEVEL: 'loud' };
    const { status, found } = await reportOf(await withKey(), environment);
    expect(status).toBe(1);
    const names = found.map((error: string) => error.split(':')[1]?.trim());
    expect(names).toEqual(['PORT', 'API_KEYS', 'LOG_LEVEL']);
    const { out } = await commandLine().run(['doctor', '--json'], { environment: { DATABASE_URL: 'x' } });
    expect(JSON.parse(out)).toMatchObject({ database: null, problems: [{ severity: 'error' }] });
  });

  test('does not know whether an unreachable PostgreSQL server has a store', async () => {
    const environment = { DATABASE_URL: 'postgres://127.0.0.1:1/pets', FIRST_KEY: 'none' };
    const { status, out } = await commandLine().run(['doctor'], { environment });
    expect(status).toBe(1);
    expect(out).not.toContain('exists');
    expect(out.split('\n\n')[1]).toMatch(/^error: 127\.0\.0\.1:1\/pets: .*ECONNREFUSED.*\n$/);
  });
});
