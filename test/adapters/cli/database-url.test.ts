import { existsSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { createCommands } from '../../../src/composition/commands.ts';
import { temporaryFile } from '../sqlite/temporary-file.ts';
import { commandLine } from './cli.ts';

test('--database-url may stand before or after the command', async () => {
  const openStore = vi.fn(() => Promise.reject(new Error('closed today')));
  for (const args of [
    ['--database-url', 'sqlite:x', 'keys', 'list'],
    ['keys', '--database-url', 'sqlite:x', 'list'],
    ['keys', 'list', '--database-url=sqlite:x'],
  ]) {
    const { status, err } = await commandLine().run(args, { openStore });
    expect([status, err]).toEqual([1, 'animal-store: closed today\n']);
    expect(openStore).toHaveBeenLastCalledWith('sqlite:x', {
      mustExist: true,
      work: 'keys',
      onlyReads: true,
    });
  }
});

test('an empty URL is refused, because a variable of the shell is probably not set', async () => {
  const { run } = commandLine('', createCommands({}, '1.0.0'));
  for (const args of [
    ['keys', 'list'],
    ['import', 'sqlite:x'],
  ]) {
    const { status, err } = await run([...args, '--database-url', '']);
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
