/** `npm start` as a user runs it: on a terminal, with Ctrl-C and a file `.env`. */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../support/clock.ts';
import { BIN, OPERATOR_KEY, type RunningProcess, runCommand, temporaryFolder } from '../support/process.ts';
import { createInFlight, folderOfClone, REX } from './workspace.ts';

const CTRL_C = '\u0003';

/** Whether the command `script`, which makes a pseudo-terminal, is installed. */
const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

/** The start does not build again, because other tests use the built command at the same time. */
const NPM_START = ['start', '--ignore-scripts'];

async function originOf({ out }: RunningProcess): Promise<string> {
  await until(() => /Reference page: \S+\/docs/.test(out.stdout));
  return /Listening on (\S+)\/v1/.exec(out.stdout)?.[1] ?? '';
}

/** Runs `npm start` on a pseudo-terminal. Resolves when a request is in flight. */
async function startOnTerminal() {
  const running = runCommand('script', ['-qefc', `exec npm ${NPM_START.join(' ')}`, '/dev/null'], {
    cwd: folderOfClone(),
    env: { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY, NO_COLOR: '1', SHUTDOWN_TIMEOUT_MS: '600000' },
    isInputOpen: true,
  });
  const connection = await createInFlight(await originOf(running));
  return { ...running, connection, pressCtrlC: () => void running.child.stdin?.write(CTRL_C) };
}

describe('npm start', () => {
  test.skipIf(!hasScript)(
    'on a terminal logs readable lines, and completes the requests in flight after Ctrl-C',
    async () => {
      const { connection, pressCtrlC, out, exit } = await startOnTerminal();
      await expect.poll(() => out.stdout).toMatch(/\d\d:\d\d:\d\d INFO listening {2}url=http:/);
      expect(out.stdout).not.toContain('{"level"');
      pressCtrlC();
      await expect.poll(() => out.stdout).toContain('stopping');
      connection.write(REX);
      expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
      expect(await exit).toEqual({ code: 0, signal: null });
      expect(out.stdout).toContain('stopped');
      expect(out.stdout).not.toContain('.env not found');
    },
  );

  test('reads a file .env, and prefers the environment', async () => {
    const cwd = folderOfClone();
    writeFileSync(join(cwd, '.env'), `API_KEYS=${OPERATOR_KEY}-of-the-file\nDATABASE_URL=postgres://wrong\n`);
    const running = runCommand('npm', NPM_START, { cwd, env: { DATABASE_URL: 'memory:' } });
    const list = await fetch(`${await originOf(running)}/v1/pets`, {
      headers: { Authorization: `Bearer ${OPERATOR_KEY}-of-the-file` },
    });
    expect([list.status, await list.text()]).toEqual([200, '[]']);
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });
});

test('a build without the packages for it says in one line which are missing, and why', async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'scripts'));
  for (const file of ['package.json', 'scripts/can-build.js'])
    copyFileSync(join(dirname(BIN), '..', file), join(cwd, file));
  const { out, exit } = runCommand('npm', ['--silent', 'start'], { cwd, env: { NODE_ENV: 'production' } });
  expect(await exit).toEqual({ code: 1, signal: null });
  expect(out.stdout + out.stderr).toMatch(
    /^animal-store: the build needs packages that are missing, because npm leaves them out for production: .+, typescript\. npm ci --include=dev installs them\n$/,
  );
});
