/** Wrong usage points at the help, and every way to ask for help or the version works. */

import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../src/composition/config/settings.ts';
import { loadConfig } from '../../../src/composition/config.ts';
import { commandLine, withRex } from './cli.ts';

describe('wrong usage names the help of the command', () => {
  test.each([
    [['fly'], 'animal-store', "unknown command 'fly'"],
    [['keys', 'creat'], 'animal-store keys', "unknown command 'creat' (Did you mean create?)"],
    [['keys', 'create'], 'animal-store keys create', "required option '--name <name>' not specified"],
    [['export', '--fast'], 'animal-store export', "unknown option '--fast'"],
    [['import'], 'animal-store import', "missing required argument 'file'"],
    [['backup', 'a', 'b'], 'animal-store backup', 'too many arguments'],
    [['completion', 'powershell'], 'animal-store completion', 'Allowed choices are bash, zsh, fish'],
    [['export', '--status', 'lost'], 'animal-store export', 'Allowed choices are available, pending, sold'],
    [['export', '--force'], 'animal-store export', '--force requires --output'],
    [['import', '--refused', 'x', '-'], 'animal-store import', '--refused requires --skip-invalid'],
    [
      ['import', '--dry-run', '--create-store', '-'],
      'animal-store import',
      "option '--dry-run' cannot be used with option '--create-store'",
    ],
    [['keys', 'rotate', '1', '--overlap', 'x'], 'animal-store keys rotate', '--overlap: expected a duration'],
    [['help', 'keys', 'fly'], 'animal-store keys', "unknown command 'fly'"],
  ])('%j', async (args, command, message) => {
    const { status, out, err } = await (await withRex()).run(args);
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/^animal-store: .*\n$/);
    expect(err).toContain(message);
    expect(err.endsWith(` (see ${command} --help)\n`)).toBe(true);
  });
});

describe('help', () => {
  test.each([[[]], [['keys']], [['keys', 'create']], [['serve']], [['help']]])(
    'of %j is the same as with --help',
    async (names) => {
      const { run } = commandLine();
      const help = await run(['help', ...names]);
      expect(help).toMatchObject({ status: 0, err: '' });
      expect(help.out).toContain(`Usage: ${['animal-store', ...names].join(' ')} `);
      expect(await run([...names, '--help'])).toEqual(help);
      expect(await run([...names, '-h'])).toEqual(help);
    },
  );
});

test.each([
  [['export'], 'available'],
  [['completion'], 'fish'],
])('the help of %j lists the choices once', async (args, choice) => {
  const { out } = await commandLine().run([...args, '--help']);
  const [, lists = ''] = /\n(?:Options|Arguments):\n(.*?)\n\nGlobal/s.exec(out) ?? [];
  expect(lists.split(choice)).toHaveLength(2);
});

test('the help of serve explains every setting', async () => {
  const names = new Set<string>();
  const environment = new Proxy<Environment>(
    {},
    {
      get(_, name) {
        names.add(String(name));
      },
    },
  );
  loadConfig(environment);
  expect(names.size).toBeGreaterThan(10);
  const { out } = await commandLine().run(['serve', '--help']);
  for (const name of names) expect(out).toMatch(new RegExp(`^  (HOST, )?${name},? .*[a-z]{3}`, 'm'));
});

test.each(['-v', '--version'])('%s prints the version', async (option) => {
  const expected = { status: 0, out: '1.2.3\n', err: '' };
  expect(await commandLine().run([option])).toEqual(expected);
  expect(await commandLine().run(['keys', option])).toEqual(expected);
});
