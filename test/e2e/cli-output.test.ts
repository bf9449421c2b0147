/** Runs the real command with standard output on a full disk, on a device, in a slow pipe or in a file of the store. */

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Pipe } from '../support/log-streams.ts';
import { BIN, runCommand } from '../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../support/small-disk.ts';
import { type Ended, endOf, lines, Workspace } from './workspace.ts';

/** The number of bytes that a pipe can hold, on Linux. It is at most as large elsewhere. */
const PIPE_SIZE = 64 * 1024;

/** Runs the command in a shell, which redirects its input and output. The folder is `$FOLDER`. */
function shell({ store }: Workspace, cwd: string, command: string): Promise<Ended> {
  const env = { DATABASE_URL: `sqlite:${store}`, NODE: process.execPath, BIN };
  const line = command.replace('animal-store', 'exec "$NODE" "$BIN"');
  return endOf(runCommand('sh', ['-c', line], { cwd, env }));
}

async function storeWith(count: number): Promise<Workspace> {
  const work = new Workspace();
  await work.outputHere(['import', '--create-store', '-'], lines(count));
  return work;
}

describe.skipIf(!canMount)(`a full disk${mountNote}`, () => {
  test('makes an export fail, even if a part of the output fits', async () => {
    const work = await storeWith(200);
    const { folder } = new SmallDisk('64k');
    writeFileSync(`${folder}/ballast`, 'x'.repeat(60 * 1024));
    const { status, err } = await shell(work, folder, 'animal-store export > out');
    expect([status, err]).toEqual([1, expect.stringMatching(/^animal-store: standard output .*ENOSPC.*\n$/)]);
    expect(statSync(`${folder}/out`).size).toBeGreaterThan(0);
  });
});

test('a backup to standard output is refused, and makes no file', async () => {
  const work = await storeWith(2);
  for (const command of [
    'backup -',
    'backup /dev/stdout',
    'backup --force /dev/stdout > f.db',
    'backup /dev/fd/1 | cat',
  ]) {
    const { status, err } = await shell(work, work.folder, `animal-store ${command}`);
    expect([command, status]).toEqual([command, command.endsWith('cat') ? 0 : 1]);
    expect(err).toContain('is not a regular file: a backup needs the path of a file');
  }
  expect(readdirSync(work.folder).toSorted()).toEqual(['f.db', 'pets.db']);
});

describe.skipIf(!existsSync('/dev/full'))('/dev/full', () => {
  test.each(['export', 'keys list --json', 'import --skip-invalid bad', '--help'])(
    'makes %s fail',
    async (command) => {
      const work = await storeWith(1);
      writeFileSync(work.path('bad'), 'oops\n');
      const { status, err } = await shell(work, work.folder, `animal-store ${command} > /dev/full`);
      expect([status, err]).toEqual([
        1,
        expect.stringContaining('standard output cannot be written: ENOSPC'),
      ]);
    },
  );
});

test('a key that closed standard output would lose is not created', async () => {
  const work = await storeWith(1);
  const command = 'animal-store keys create --name shop >&-';
  const { status, err } = await shell(work, work.folder, command);
  expect([status, err]).toEqual([1, expect.stringContaining('standard output is closed')]);
  expect(await work.outputHere(['keys', 'list', '--json'])).toBe('[]\n');
});

test('output that does not fit into a pipe is complete when the pipe is read slowly', async () => {
  const work = await storeWith(4000);
  const pipe = new Pipe();
  const running = shell(work, work.folder, `animal-store export > ${pipe.path}`);
  const exported = await work.outputHere(['export']);
  expect(exported.length).toBeGreaterThan(4 * PIPE_SIZE);
  await expect.poll(() => pipe.read().length, { interval: 20 }).toBeGreaterThanOrEqual(exported.length);
  expect(pipe.read()).toBe(exported);
  expect((await running).status).toBe(0);
});
