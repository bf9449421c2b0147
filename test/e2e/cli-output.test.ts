/** Runs the real command with standard output on a full disk, on a device, in a slow pipe or in a file of the store. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMakeDevices, fullDevice, Pipe } from '../support/log-streams.ts';
import { BIN, runBin, runCommand, temporaryFolder } from '../support/process.ts';
import { type Ended, endOf, lines, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 60_000 };
const ENDED = { code: 0, signal: null };
const noDevices = canMakeDevices ? '' : ' (skipped: this user may not make a device)';

/** Runs the command in a shell, so that `command` can redirect standard input and standard output. */
function shell(work: Workspace, command: string): Promise<Ended> {
  const env = { DATABASE_URL: `sqlite:${work.store}`, NODE: process.execPath, BIN };
  const line = command.replace('animal-store', 'exec "$NODE" "$BIN"');
  return endOf(runCommand('sh', ['-c', line], { cwd: work.folder, env }));
}

async function storeWith(count: number): Promise<Workspace> {
  const work = new Workspace();
  await work.run(['import', '-'], lines(count));
  return work;
}

/** Mounts a disk of 64 KiB in the folder `disk`. Returns false if this user is not allowed to mount it. */
function mountDisk(work: Workspace): boolean {
  mkdirSync(work.path('disk'));
  const args = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', work.path('disk')];
  if (spawnSync('mount', args).status !== 0) return false;
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', work.path('disk')]);
  });
  return true;
}

describe('output to a full disk', TIMEOUT, () => {
  test('makes an export fail, even if a part of the output fits', async ({ skip }) => {
    const work = await storeWith(200);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    writeFileSync(work.path('disk/ballast'), 'x'.repeat(60 * 1024));
    const { status, err } = await shell(work, 'animal-store export > disk/out');
    expect([status, err]).toEqual([1, expect.stringMatching(/^animal-store: standard output .*ENOSPC.*\n$/)]);
    expect(statSync(work.path('disk/out')).size).toBeGreaterThan(0);
  });

  test('makes an import fail with a message that the pets were imported', async ({ skip }) => {
    const work = await storeWith(2);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    writeFileSync(work.path('disk/ballast'), 'x'.repeat(64 * 1024));
    writeFileSync(work.path('in.ndjson'), lines(3, 'late'));
    const { status, err } = await shell(work, 'animal-store import in.ndjson > disk/out');
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(/^animal-store: imported 3 pets, but standard output .*ENOSPC.*\n$/),
    ]);
    expect((await work.output('export')).match(/late/g)).toHaveLength(3);
  });

  test('does not affect an import that writes only its progress to the disk', async ({ skip }) => {
    const work = await storeWith(2);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    writeFileSync(work.path('disk/ballast'), 'x'.repeat(64 * 1024));
    writeFileSync(work.path('in.ndjson'), `oops\n${lines(3)}`);
    const { status, out } = await shell(work, 'animal-store import --skip-invalid in.ndjson 2> disk/err');
    expect([status, out]).toEqual([0, expect.stringContaining('Imported 3 pets')]);
  });
});

describe('the store as standard output', TIMEOUT, () => {
  test('is not changed when the shell appends to it', async () => {
    const work = await storeWith(10);
    const before = readFileSync(work.store);
    for (const command of ['export', 'keys create --name x', 'serve']) {
      const { status, err } = await shell(work, `animal-store ${command} >> ./pets.db`);
      expect([status, err]).toEqual([2, 'animal-store: standard output belongs to the store\n']);
    }
    expect(readFileSync(work.store).equals(before)).toBe(true);
  });

  test('receives no output when the shell has truncated it', async () => {
    const work = await storeWith(10);
    const { status, err } = await shell(work, 'animal-store export > pets.db');
    expect([status, err]).toEqual([2, 'animal-store: standard output belongs to the store\n']);
    expect(statSync(work.store).size).toBe(0);
  });
});

test('the store cannot be imported', TIMEOUT, async () => {
  const work = await storeWith(10);
  const before = readFileSync(work.store);
  const { status, err } = await shell(work, 'animal-store import --skip-invalid - < pets.db');
  expect([status, err]).toEqual([2, 'animal-store: standard input belongs to the store\n']);
  expect(readFileSync(work.store).equals(before)).toBe(true);
});

test(
  'in a read-only folder, an import of standard input needs --refused only if lines are invalid',
  TIMEOUT,
  async ({ skip }) => {
    const work = await storeWith(2);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    spawnSync('mount', ['-o', 'remount,ro', work.path('disk')]);
    const importing = (input: string, ...args: string[]) => {
      const env = { DATABASE_URL: `sqlite:${work.store}` };
      return endOf(
        runBin(['import', '--skip-invalid', ...args, '-'], { cwd: work.path('disk'), env, input }),
      );
    };
    expect(await importing(`oops\n${lines(3, 'late')}`)).toMatchObject({
      status: 1,
      err: expect.stringMatching(
        /^animal-store: cannot write import\.refused\.ndjson: EROFS.*, nothing was imported\n$/,
      ),
    });
    expect(await work.output('export')).not.toContain('late');
    expect((await importing(lines(3, 'late'))).status).toBe(0);
    expect((await importing(`oops\n${lines(3, 'later')}`, '--refused', '../bad')).status).toBe(0);
    expect((await work.output('export')).match(/late/g)).toHaveLength(6);
  },
);

describe('standard output that is a device or a pipe', { timeout: 60_000 }, () => {
  test.skipIf(!canMakeDevices)(`makes a command fail when the device is full${noDevices}`, async () => {
    const cwd = temporaryFolder();
    const env = { DATABASE_URL: 'sqlite:pets.db', STDOUT: fullDevice() };
    expect(
      await runBin(['import', '-'], { cwd, env, input: '{"name":"Rex","categoryId":1}\n' }).exit,
    ).toEqual(ENDED);
    for (const command of ['export', 'openapi', '--help']) {
      const { exit, out } = runCommand(
        'sh',
        ['-c', 'exec "$0" "$@" >"$STDOUT"', process.execPath, BIN, command],
        { cwd, env },
      );
      expect(await exit).toEqual({ code: 1, signal: null });
      expect(out.stderr).toMatch(/^animal-store: .*ENOSPC.*\n$/);
    }
  });

  test('is complete when it is read slowly', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const { exit } = runCommand('sh', ['-c', 'exec "$0" "$@" >"$STDOUT"', process.execPath, BIN, 'openapi'], {
      env: { STDOUT: pipe.path },
    });
    await expect(Promise.race([exit, delay(2000, 'waits')])).resolves.toBe('waits');
    await expect.poll(() => pipe.read()).toMatch(/}\n$/);
    expect(await exit).toEqual(ENDED);
  });
});
