/** Options of the real command that concern the process: its address, its output and its pipes. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BIN, stopService } from '../support/process.ts';
import { lines, listWith, until, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 60_000 };

describe('serve', TIMEOUT, () => {
  test('--host and --port have precedence over the variables', async () => {
    const work = new Workspace();
    const running = work.start(['serve', '--host', '127.0.0.2', '--port', '0'], undefined, {
      HOST: '127.0.0.1',
      PORT: 'none',
    });
    await until(() => running.out.stdout.includes('Listening on') || running.child.exitCode !== null);
    expect(running.out.stdout).toMatch(/^Listening on http:\/\/127\.0\.0\.2:\d+\/v1\n/);
    await stopService(running);
  });

  test('FIRST_KEY=file:PATH keeps the key out of all output', async () => {
    const work = new Workspace();
    const file = work.path('first-key');
    const server = await work.serve({ FIRST_KEY: `file:${file}`, LOG_LEVEL: 'debug' });
    const key = readFileSync(file, 'utf8').trim();
    expect((await listWith(server, key)).status).toBe(200);
    await stopService(server);
    const { stdout, stderr } = server.out;
    expect(stdout).toContain(`The first API key is in the file ${file}\n`);
    expect(stdout + stderr).not.toContain(key.slice(0, 12));
  });

  test('FIRST_KEY=none creates no key', async () => {
    const work = new Workspace();
    const server = await work.serve({ FIRST_KEY: 'none' });
    await stopService(server);
    expect(server.out.stdout).not.toContain('pets_');
    expect(await work.output('keys', 'list', '--json')).toBe('[]\n');
  });

  test.each([
    [['--database-url', 'sqlite:/proc/no/pets.db'], {}, '--database-url'],
    [[], { DATABASE_URL: 'sqlite:/proc/no/pets.db' }, 'DATABASE_URL'],
  ])('%j names the setting of a store that cannot be opened', async (args, environment, source) => {
    const { status, err } = await new Workspace().run(['serve', ...args], undefined, environment);
    expect(status).toBe(1);
    expect(err).toMatch(new RegExp(`^animal-store: ${source}: .*/proc/no.*\n$`));
  });
});

test('export --gzip and import work through the pipes of a shell', TIMEOUT, async () => {
  const work = new Workspace();
  await work.run(['import', '-'], lines(5000));
  const command = `"${process.execPath}" "${BIN}"`;
  const script = `set -e
    ${command} export --gzip > pets.gz
    cat pets.gz | ${command} import --database-url sqlite:copy.db -
    ${command} export --database-url sqlite:copy.db`;
  const env = { ...process.env, DATABASE_URL: `sqlite:${work.store}` };
  const { stdout } = spawnSync('sh', ['-c', script], { cwd: work.folder, env, encoding: 'utf8' });
  const exported = await work.output('export');
  expect(stdout).toBe(`${stdout.split('\n')[0]}\n${exported}`);
  expect(stdout).toMatch(/^Imported 5,000 pets/);
  expect(gunzipSync(readFileSync(work.path('pets.gz'))).toString()).toBe(exported);
});

test('keys create does not create a mistyped store', TIMEOUT, async () => {
  const work = new Workspace();
  const path = work.path('no/x.db');
  for (const [args, environment, source] of [
    [['--database-url', `sqlite:${path}`], {}, '--database-url'],
    [[], { DATABASE_URL: `sqlite:${path}` }, 'DATABASE_URL'],
    [[], { DATABASE_URL: '' }, 'the default store'],
  ] as const) {
    const { status, out, err } = await work.run(
      ['keys', 'create', '--name', 'x', ...args],
      undefined,
      environment,
    );
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(
      new RegExp(
        `^animal-store: ${source}: \\S+: there is no such file. Check the path, or create a store there with --create-store\n$`,
      ),
    );
  }
  expect([existsSync(work.path('no')), existsSync(work.path('data'))]).toEqual([false, false]);
});
