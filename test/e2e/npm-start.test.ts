/** `npm start` as a user runs it: on a terminal, with Ctrl-C and a file `.env`. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Connection } from '../support/connection.ts';
import { OPERATOR_KEY, type RunningProcess, runCommand } from '../support/process.ts';
import { folderOfClone } from './workspace.ts';

const CTRL_C = '\u0003';
const REX = '{"name":"Rex","categoryId":7}';
const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

/** The start does not build again, because other tests use the built command at the same time. */
const NPM_START = ['start', '--ignore-scripts'];

async function originOf({ out }: RunningProcess): Promise<string> {
  await expect.poll(() => out.stdout, { timeout: 20_000 }).toMatch(/Reference page: \S+\/docs/);
  return /Listening on (\S+)\/v1/.exec(out.stdout)?.[1] ?? '';
}

/** Runs `npm start` on a pseudo-terminal. Resolves when a request is in flight that waits for its body. */
async function startOnTerminal(environment: Readonly<Record<string, string>>) {
  const running = runCommand('script', ['-qefc', `exec npm ${NPM_START.join(' ')}`, '/dev/null'], {
    cwd: folderOfClone(),
    env: { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY, NO_COLOR: '1', ...environment },
    isInputOpen: true,
  });
  const connection = await Connection.open(await originOf(running));
  connection.write(
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${REX.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await new Promise((resolve) => connection.socket.once('received', resolve));
  const pressCtrlC = () => running.child.stdin?.write(CTRL_C);
  return { ...running, connection, pressCtrlC };
}

describe('npm start', { timeout: 60_000 }, () => {
  describe('on a terminal', { skip: !hasScript }, () => {
    test('one Ctrl-C completes the requests in flight, and stops the server cleanly', async () => {
      const { connection, pressCtrlC, out, exit } = await startOnTerminal({});
      pressCtrlC();
      await expect.poll(() => out.stdout).toContain('stopping');
      await delay(200);
      connection.write(REX);
      expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
      expect(await exit).toEqual({ code: 0, signal: null });
      expect(out.stdout).toContain('stopped');
      expect(out.stdout).not.toContain('.env not found');
    });

    test('a second Ctrl-C after a second ends the server immediately', async () => {
      const { connection, pressCtrlC, out, exit } = await startOnTerminal({ SHUTDOWN_TIMEOUT_MS: '60000' });
      pressCtrlC();
      await expect.poll(() => out.stdout).toContain('stopping');
      await delay(1000);
      const pressedAt = performance.now();
      pressCtrlC();
      expect(await exit).toMatchObject({ signal: null });
      expect(performance.now() - pressedAt).toBeLessThan(5000);
      expect(out.stdout).not.toContain('stopped');
      expect(await connection.rest()).toEqual([]);
    });
  });

  test('reads a file .env, and prefers the environment', async () => {
    const cwd = folderOfClone();
    writeFileSync(join(cwd, '.env'), `API_KEYS=${OPERATOR_KEY}-of-the-file\nDATABASE_URL=postgres://wrong\n`);
    const running = runCommand('npm', NPM_START, { cwd, env: { DATABASE_URL: 'memory:' } });
    const origin = await originOf(running);
    const list = await fetch(`${origin}/v1/pets`, {
      headers: { Authorization: `Bearer ${OPERATOR_KEY}-of-the-file` },
    });
    expect([list.status, await list.text()]).toEqual([200, '[]']);
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });
});
