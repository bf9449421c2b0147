import { existsSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { createCommands } from '../../../src/composition/commands.ts';
import { temporaryFile } from '../sqlite/temporary-file.ts';
import { commandLine } from './cli.ts';

test('--database-url may stand before or after the command', async () => {
  const openStore = vi.fn(() => Promise.reject(new Error('closed today')));
  const option = '--database-url sqlite:x';
  for (const line of [`${option} keys list`, `keys ${option} list`, 'keys list --database-url=sqlite:x']) {
    const { status, err } = await commandLine().run(line.split(' '), { openStore });
    expect([status, err]).toEqual([1, 'animal-store: closed today\n']);
    const how = { mustExist: true, work: 'keys', onlyReads: true };
    expect(openStore).toHaveBeenLastCalledWith('sqlite:x', how);
  }
});

test('an empty URL is refused, because a variable of the shell is probably not set', async () => {
  const { run } = commandLine('', createCommands({}, '1.0.0'));
  for (const command of ['keys list', 'import sqlite:x']) {
    const { status, err } = await run([...command.split(' '), '--database-url', '']);
    expect([status, err]).toEqual([
      2,
      expect.stringMatching(/^animal-store: --database-url: .*, got a value without such a scheme\n$/),
    ]);
  }
});

test('commands that only read say so to the storage, which then does not migrate the store', async () => {
  const access: unknown[] = [];
  const { run } = commandLine('', {
    openStore: async (_, { onlyReads }) => {
      access.push(onlyReads);
      throw new Error('not opened');
    },
  });
  const file = temporaryFile();
  writeFileSync(file, '');
  const readers = ['keys list', 'pets list', 'changes', 'changes --follow', `import --dry-run ${file}`];
  const writers = ['keys revoke 1', 'changes --new-epoch', `import ${file}`];
  for (const command of [...readers, ...writers]) await run(command.split(' '));
  expect(access).toEqual([...readers.map(() => true), ...writers.map(() => false)]);
});

test('only commands that write create a store', async () => {
  const { path, run } = commandLine();
  for (const command of ['keys list', 'keys revoke 1', 'keys rotate 1', 'export', 'backup /x']) {
    const { status, err } = await run(command.split(' '));
    expect([status, err]).toEqual([1, `animal-store: ${path}: there is no such file\n`]);
    expect(existsSync(path)).toBe(false);
  }
});
