/** Runs the real command with standard output on a full disk, on a device, or closed. */

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BIN, runCommand } from '../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../support/small-disk.ts';
import { type Ended, endOf, lines, Workspace } from './workspace.ts';

/** Runs the command in a shell, which redirects its input and output. The folder is `$FOLDER`. */
function shell({ store }: Workspace, cwd: string, command: string): Promise<Ended> {
  const env = { DATABASE_URL: `sqlite:${store}`, NODE: process.execPath, BIN };
  const line = command.replace('animal-store', 'exec "$NODE" "$BIN"');
  return endOf(runCommand('sh', ['-c', line], { cwd, env }));
}

async function storeWith(count: number): Promise<Workspace> {
  const work = new Workspace();
  await work.addPets(count);
  return work;
}

test.skipIf(!canMount)(`a full disk makes an export fail, even if a part fits${mountNote}`, async () => {
  const work = await storeWith(200);
  const { folder } = new SmallDisk('64k');
  writeFileSync(`${folder}/ballast`, 'x'.repeat(60 * 1024));
  const { status, err } = await shell(work, folder, 'animal-store export > out');
  expect([status, err]).toEqual([1, expect.stringMatching(/^animal-store: standard output .*ENOSPC.*\n$/)]);
  expect(statSync(`${folder}/out`).size).toBeGreaterThan(0);
});

test.skipIf(!existsSync('/dev/full'))('/dev/full makes an export fail', async () => {
  const work = await storeWith(1);
  const { status, err } = await shell(work, work.folder, 'animal-store export > /dev/full');
  expect([status, err]).toEqual([1, expect.stringContaining('standard output cannot be written: ENOSPC')]);
});

test('a key that closed standard output would lose is not created', async () => {
  const work = await storeWith(1);
  const { status, err } = await shell(work, work.folder, 'animal-store keys create --name shop >&-');
  expect([status, err]).toEqual([1, expect.stringContaining('standard output is closed')]);
  expect(await work.outputHere(['keys', 'list', '--json'])).toBe('[]\n');
});

test.each([
  ['import --create-store --skip-invalid pets.ndjson >&-', 'output is closed, so the data would be lost'],
  ['import --create-store - <&-', 'input is closed'],
  ['export >&-', 'output is closed, so the data would be lost'],
  ['changes --follow >&-', 'output is closed, so the data would be lost'],
])(
  'a command whose standard stream is closed is refused before it opens the store: %s',
  async (command, fault) => {
    const work = new Workspace();
    writeFileSync(work.path('pets.ndjson'), lines(1));
    const { status, err } = await shell(work, work.folder, `animal-store ${command}`);
    expect([status, err]).toEqual([1, expect.stringContaining(`animal-store: standard ${fault}`)]);
    expect(existsSync(work.store)).toBe(false);
  },
);

test('an import that discards the refused lines by a redirection is not refused', async () => {
  const work = await storeWith(1);
  const command = 'animal-store import --skip-invalid - > /dev/null < /dev/null';
  const err = 'Imported 0 pets.\nwarning: the input has no pets\n';
  expect(await shell(work, work.folder, command)).toEqual({ status: 0, out: '', err });
});
