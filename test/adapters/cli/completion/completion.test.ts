/** The completion scripts, in the real shells. A test is skipped where its shell is not installed. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { BIN, temporaryFolder } from '../../../support/process.ts';
import { commandLine, failingOutput } from '../cli.ts';

type Skip = TestContext['skip'];

/** A folder with the command `animal-store`, which the scripts ask for the words. */
function folderOfCommand(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'animal-store'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
    mode: 0o755,
  });
  return folder;
}

/** Runs commands of a shell after the completion script, in a folder with the files `my pets.db` and `b.ndjson`. */
async function inShell(shell: string, commands: string, skip: Skip, args: string[] = []): Promise<string[]> {
  if (spawnSync(shell, ['--version']).error !== undefined) skip(`${shell} is not installed`);
  const { status, out } = await commandLine().run(['completion', shell]);
  expect(status).toBe(0);
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'my pets.db'), '');
  writeFileSync(join(cwd, 'b.ndjson'), '');
  const script = join(temporaryFolder(), 'script');
  writeFileSync(script, `${out}\n${commands}\n`);
  const env = { PATH: [folderOfCommand(), process.env['PATH']].join(delimiter), HOME: cwd };
  const { stdout, stderr } = spawnSync(shell, [...args, script], { encoding: 'utf8', cwd, env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** The lines that can be completed, and the expected words. A vertical bar separates the words as the shell does. */
const CASES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['|keys|', ['create', 'list', 'revoke', 'rotate']],
  ['|ex', ['export']],
  ['|keys|cr', ['create']],
  ['|keys|list|--', ['--active', '--json', '--help', '--version', '--database-url']],
  ['|export|--status|', ['available', 'pending', 'sold']],
  ['|export|--status|p', ['pending']],
  ['|export|--output|b', ['b.ndjson']],
  ['|--database-url|sqlite:x|completion|', ['bash', 'zsh', 'fish']],
  ['|help|resto', ['restore']],
  ['|import|my', ['my pets.db']],
  ['|import|--refused|my', ['my pets.db']],
  ['|keys|create|--name|', []],
  ['|serve|--ho', ['--host']],
];

describe('bash completes', () => {
  async function completed(words: readonly string[], skip: Skip): Promise<string[]> {
    const list = words.map((word) => `'${word}'`).join(' ');
    const call = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _animal_store`;
    return inShell('bash', `${call}; printf '%s\\n' "\${COMPREPLY[@]}"`, skip, ['--norc']);
  }

  test.for(CASES)('%s', async ([line, expected], { skip }) => {
    const words = await completed(`animal-store${line}`.split('|'), skip);
    expect(words.toSorted()).toEqual(expected.toSorted());
  });

  test('a value after =, which bash splits', async ({ skip }) => {
    expect(await completed(['animal-store', 'export', '--status', '=', 'so'], skip)).toEqual(['sold']);
    expect(await completed(['animal-store', 'export', '--status', '='], skip)).toHaveLength(3);
    const url = ['--database-url', '=', 'sqlite', ':', 'x.db'];
    expect(await completed(['animal-store', ...url, 'keys', 'cr'], skip)).toEqual(['create']);
  });
});

describe('fish completes', () => {
  test.for(CASES)('%s', async ([line, expected], { skip }) => {
    const text = `animal-store${line}`.replaceAll('|', ' ');
    const found = await inShell('fish', `complete -C '${text}'`, skip, ['--no-config']);
    const words = found.map((entry) => (entry.split('\t')[0] ?? '').replaceAll('\\ ', ' '));
    const files = expected.some((word) => word.includes('.'));
    const long = words.filter((word) => files || !/^-\w$/.test(word));
    expect(long.toSorted()).toEqual(expected.toSorted());
  });
});

describe('zsh', () => {
  test('accepts the script, which registers a function', async ({ skip }) => {
    if (spawnSync('zsh', ['--version']).error !== undefined) skip('zsh is not installed');
    const { out } = await commandLine().run(['completion', 'zsh']);
    const script = join(temporaryFolder(), '_animal-store');
    writeFileSync(script, out);
    expect(spawnSync('zsh', ['-n', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    const load = `autoload -U compinit && compinit -D -u; source ${script}; echo $_comps[animal-store]`;
    expect(spawnSync('zsh', ['-f', '-c', load], { encoding: 'utf8' }).stdout.trim()).toBe('_animal_store');
  });

  test('finds the script in a folder by its first line', async () => {
    const { out } = await commandLine().run(['completion', 'zsh']);
    expect(out).toMatch(/^#compdef animal-store\n# Completes the command animal-store\./);
  });
});

describe('the candidates', () => {
  async function linesFor(...words: readonly string[]): Promise<readonly string[]> {
    const { status, out, err } = await commandLine().run(['complete', '--', ...words]);
    expect([status, err]).toEqual([0, '']);
    return out.split('\n').slice(0, -1);
  }

  test.each(CASES)('for %s', async (line, expected) => {
    const lines = await linesFor(...line.split('|').slice(1));
    const words = lines.map((text) => text.split('\t')[0]);
    const files = expected.some((word) => word.includes('.'));
    expect(words.toSorted()).toEqual(files ? [':files'] : expected.toSorted());
  });

  test('have their descriptions', async () => {
    expect(await linesFor('keys', 'rev')).toEqual(['revoke\trevoke a key immediately']);
    expect(await linesFor('backup', '-v')).toEqual(['-v\tprint the version']);
  });

  test('for a value after =, in one word or in three', async () => {
    expect(await linesFor('export', '--status=so')).toEqual(['--status=sold']);
    expect(await linesFor('export', '--status', '=', 'so')).toEqual(['sold']);
    expect(await linesFor('import', '--refused=b')).toEqual([':files']);
    expect(await linesFor('export', '--gzip=')).toEqual([]);
  });

  test('after help are the commands whose help can be shown', async () => {
    expect(await linesFor('help', 'keys', 'cr')).toEqual(['create\tcreate a key, and show it once']);
  });

  test('are every command and option of the help', async () => {
    const { run } = commandLine();
    for (const command of '|keys create|keys rotate|import|export|backup|restore|doctor'.split('|')) {
      const path = command.split(' ').filter(Boolean);
      const { out } = await run([...path, '--help']);
      const names = [...out.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name);
      const found = (await linesFor(...path, '--')).map((text) => text.split('\t')[0]);
      expect(found.toSorted(), command).toEqual(names.toSorted());
    }
  });

  test('are none, silently, for words that make no sense', async () => {
    for (const words of [
      [],
      ['fly', 'x'],
      ['--'],
      ['keys', '--', 'x'],
      ['$(touch x)', '`id`;'],
      ['--status'],
    ]) {
      for (const line of await linesFor(...words)) expect(line).toMatch(/^[\w-]/);
    }
    expect(await linesFor('$(touch x)', '`id`;')).toEqual([]);
  });

  test('print nothing when standard output cannot be written', async () => {
    const stdout = failingOutput('ENOSPC');
    const run = await commandLine().run(['complete', '--', 'ke'], { stdout });
    expect(run).toEqual({ status: 0, out: '', err: '' });
  });

  test('are not shown as a command', async () => {
    const { run } = commandLine();
    expect((await run(['--help'])).out).not.toContain('  complete ');
    expect(await run(['complete', 'keys'])).toMatchObject({ status: 2 });
  });
});
