/** The real command with its output on a full disk, or on the store itself. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BIN, runBin, runCommand } from '../support/process.ts';
import { type Ended, endOf, lines, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 60_000 };

/** Runs the command in a shell, which redirects what it reads and writes. */
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

/** A disk of 64 KiB in the folder `disk`; whether this user may mount one. */
function mountDisk(work: Workspace): boolean {
  mkdirSync(work.path('disk'));
  const args = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', work.path('disk')];
  if (spawnSync('mount', args).status !== 0) return false;
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', work.path('disk')]);
  });
  return true;
}

describe('standard output on a full disk', TIMEOUT, () => {
  test('is a failure of an export, also when a part of its only text fits', async ({ skip }) => {
    const work = await storeWith(200);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    writeFileSync(work.path('disk/ballast'), 'x'.repeat(60 * 1024));
    const { status, err } = await shell(work, 'animal-store export > disk/out');
    expect([status, err]).toEqual([1, expect.stringMatching(/^animal-store: standard output .*ENOSPC.*\n$/)]);
    expect(statSync(work.path('disk/out')).size).toBeGreaterThan(0);
  });

  test('does not hide that an import is done', async ({ skip }) => {
    const work = await storeWith(2);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    writeFileSync(work.path('disk/ballast'), 'x'.repeat(64 * 1024));
    writeFileSync(work.path('in.ndjson'), lines(3, 'late'));
    const { status, err } = await shell(work, 'animal-store import in.ndjson > disk/out');
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(/^animal-store: imported 3 animals, but standard output .*ENOSPC.*\n$/),
    ]);
    expect((await work.output('export')).match(/late/g)).toHaveLength(3);
  });

  test('is no concern of an import that tells its progress there', async ({ skip }) => {
    const work = await storeWith(2);
    if (!mountDisk(work)) skip('this user cannot mount a file system');
    writeFileSync(work.path('disk/ballast'), 'x'.repeat(64 * 1024));
    writeFileSync(work.path('in.ndjson'), `oops\n${lines(3)}`);
    const { status, out } = await shell(work, 'animal-store import --skip-invalid in.ndjson 2> disk/err');
    expect([status, out]).toEqual([0, expect.stringContaining('Imported 3 animals')]);
  });
});

describe('the store as standard output', TIMEOUT, () => {
  test('stays as it is when the shell appends', async () => {
    const work = await storeWith(10);
    const before = readFileSync(work.store);
    for (const command of ['export', 'keys create --name x', 'serve']) {
      const { status, err } = await shell(work, `animal-store ${command} >> ./pets.db`);
      expect([status, err]).toEqual([2, 'animal-store: standard output is the store itself\n']);
    }
    expect(readFileSync(work.store).equals(before)).toBe(true);
  });

  test('gets nothing when the shell has emptied it', async () => {
    const work = await storeWith(10);
    const { status, err } = await shell(work, 'animal-store export > pets.db');
    expect([status, err]).toEqual([2, 'animal-store: standard output is the store itself\n']);
    expect(statSync(work.store).size).toBe(0);
  });
});

test('the store is no input', TIMEOUT, async () => {
  const work = await storeWith(10);
  const before = readFileSync(work.store);
  const { status, err } = await shell(work, 'animal-store import --skip-invalid - < pets.db');
  expect([status, err]).toEqual([2, 'animal-store: standard input is the store itself\n']);
  expect(readFileSync(work.store).equals(before)).toBe(true);
});

test(
  'in a folder that is read-only, an import of standard input needs --refused for bad lines only',
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
