/** Wrong usage points at the help, and every way to ask for help or the version works. */

import { devNull } from 'node:os';
import { describe, expect, test } from 'vitest';
import { withoutSecrets } from '../../../src/adapters/cli/errors.ts';
import { createCommands } from '../../../src/composition/commands.ts';
import { describeSettings } from '../../../src/composition/config.ts';
import { commandLine, withRex } from './cli.ts';

test.each([
  [['fly'], 'animal-store', "unknown command 'fly'"],
  [['fly', '--help'], 'animal-store', "unknown command 'fly'"],
  [['fly', '--version'], 'animal-store', "unknown command 'fly'"],
  [['help', 'keys', 'fly'], 'animal-store keys', "unknown command 'fly'"],
  [['keys', 'fly', '-h'], 'animal-store keys', "unknown command 'fly'"],
  [['pets', 'list', '--after', '7n'], 'animal-store pets list', 'expected an integer from -'],
  [['keys', 'create', '--name', '-Rex'], 'animal-store keys create', 'is given as --name=VALUE'],
  [['keys', 'creat'], 'animal-store keys', "unknown command 'creat' (Did you mean create?)"],
  [['keys', 'create'], 'animal-store keys create', "required option '--name <name>' not specified"],
  [
    ['keys', 'create', '--nmae', 'x'],
    'animal-store keys create',
    "unknown option '--nmae' (Did you mean --name?)",
  ],
  [['pets', 'remove', '1', '--idempotency-key', ''], 'animal-store pets remove', '1 to 255 visible ASCII'],
  [['pets', 'change', '1', '--idempotency-key', 'ü'], 'animal-store pets change', '--idempotency-key'],
  [['pets', 'remove', '1', '--if-match', ''], 'animal-store pets remove', 'expected one strong entity tag'],
  [['backup', ''], 'animal-store backup', 'expected the path of a file'],
  [['restore', ''], 'animal-store restore', 'expected the path of a file'],
  [['import', ''], 'animal-store import', 'expected the path of a file'],
  [['doctor', '--backup', ''], 'animal-store doctor', 'expected the path of a file'],
  [['keys', 'create', '--name', ''], 'animal-store keys create', 'expected 1 to 100 characters'],
  [['export', '--fast'], 'animal-store export', "unknown option '--fast'"],
  [['import'], 'animal-store import', "missing required argument 'file-or-store'"],
  [['backup', 'a', 'b'], 'animal-store backup', 'too many arguments'],
  [['completion', 'powershell'], 'animal-store completion', 'Allowed choices are bash, zsh, fish'],
  [['export', '--after', '1'], 'animal-store export', '--after requires --follow'],
  [
    ['import', '--dry-run', '--create-store', '-'],
    'animal-store import',
    "option '--dry-run' cannot be used with option '--create-store'",
  ],
  [
    ['import', '--skip-invalid', '--json', '-'],
    'animal-store import',
    "option '--json' cannot be used with option '--skip-invalid'",
  ],
  [['keys', 'rotate', '1', '--overlap', 'x'], 'animal-store keys rotate', 'expected a duration'],
])('wrong usage names the help of the command %j', async (args, command, message) => {
  const { status, out, err } = await (await withRex()).run(args);
  expect([status, out]).toEqual([2, '']);
  expect(err).toMatch(/^animal-store: .*\n$/);
  expect(err).toContain(message);
  expect(err.endsWith(` (see ${command} --help)\n`)).toBe(true);
});

test('an argument that was not UTF-8 is refused, because Node.js has replaced its bytes', async () => {
  const { status, err } = await (await withRex()).run(['keys', 'create', '--name', 'caf\ufffd']);
  expect([status, err]).toEqual([2, expect.stringContaining('in place of invalid UTF-8')]);
});

describe('help', () => {
  test('is the same with help, --help and -h', async () => {
    const { run } = commandLine();
    const help = await run(['help', 'keys']);
    expect(help).toMatchObject({ status: 0, err: '' });
    expect(help.out).toContain('Usage: animal-store keys ');
    expect(await run(['keys', '--help'])).toEqual(help);
    expect(await run(['keys', '-h'])).toEqual(help);
    expect(await run(['help', 'keys', 'list'])).toEqual(await run(['keys', 'list', '--help']));
    const unknown = await run(['help', 'fly']);
    expect([unknown.status, unknown.out]).toEqual([2, '']);
    expect(unknown.err).toContain("animal-store: unknown command 'fly' (see animal-store --help)\n");
  });

  test('has all commands in groups, and without a command is shown as an error', async () => {
    const { out } = await commandLine().run(['--help']);
    const groups =
      /Server:.* serve .*doctor.*openapi.*Pets and keys:.* pets .* keys .*Data:.* backup .* restore .*Other:/s;
    expect(out).toMatch(groups);
    expect(await commandLine().run([])).toEqual({ status: 2, out: '', err: out });
  });

  test('of a command marks the required options, and explains where the store can be', async () => {
    const { databaseUrls } = createCommands({}, '1');
    const { run } = commandLine('', { databaseUrls, settings: describeSettings() });
    const { out } = await run(['keys', 'create', '--help']);
    expect(out).toMatch(/--name <name> .*\(required\)$/m);
    expect(out).not.toMatch(/--expires [^-]*\(required\)/);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /--database-url <url> sqlite:PATH, .*\(default: DATABASE_URL, or sqlite:\.\/data\/[\w-]+\.db\)/,
    );
  });

  test('of serve explains every setting', async () => {
    const settings = describeSettings();
    expect(settings.length).toBeGreaterThan(10);
    const { out } = await commandLine('', { settings }).run(['serve', '--help']);
    for (const { name } of settings) expect(out).toMatch(new RegExp(`^  ${name} +.*[a-z]{3}`, 'm'));
  });
});

test.each([
  ['a value that is invalid in itself', 2, 'keys revoke abc, keys rotate abc, pets get abc'],
  ['what does not exist', 1, 'keys revoke 9, keys rotate 9, pets get 9'],
  ['a file that does not exist', 1, 'restore /none, doctor --backup /none'],
  ['a file to read that does not exist', 1, 'import /none'],
  ['a folder in place of a file', 1, 'restore /, backup /, doctor --backup /'],
  ['a folder to read', 1, 'import /'],
  ['a stream', 1, 'backup -, restore -, backup --force DEVICE, restore DEVICE, doctor --backup DEVICE'],
])('%s has the exit status %i in every command', async (_, status, commands) => {
  const cli = await withRex();
  for (const command of commands.replaceAll('DEVICE', devNull).split(', ')) {
    const run = await cli.run(command.split(' '));
    expect([command, run.status]).toEqual([command, status]);
    expect(run.err).toMatch(/^animal-store: .*\n$/);
  }
});

test.each(['postgres://me:hunter2@h/x', 'postgres://me:hun ter@2@h', 'https://h?password=hunter2&x=1'])(
  'a password in a misplaced URL is not shown: %s',
  async (url) => {
    const cli = await withRex();
    const options = 'doctor --backup, doctor --json --backup, pets get, keys create --name x --expires';
    for (const command of ['', ...`export, completion, backup, restore, ${options}`.split(', ')]) {
      const { status, out, err } = await cli.run([...command.split(' ').filter(Boolean), url]);
      expect(status).not.toBe(0);
      expect(out + err).not.toMatch(/hun|ter|2@/);
    }
  },
);

test.each([
  ['host=h password=hunter2 port=1', 'host=h password=… port=1'],
  ['no postgres:me:hunter2@h, there', 'no postgres:me:…@h, there'],
  ['no postgres://me:hunter2@h, there', 'no postgres://…@h, there'],
])('a password is not shown: %s', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown);
});

test.each(['-v', '--version'])('%s prints the version', async (option) => {
  const expected = { status: 0, out: '1.2.3\n', err: '' };
  expect(await commandLine().run([option])).toEqual(expected);
  expect(await commandLine().run(['keys', option])).toEqual(expected);
});
