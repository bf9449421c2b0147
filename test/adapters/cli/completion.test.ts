/** The completion scripts, in the real shells. A test is skipped where its shell is not installed. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { temporaryFolder } from '../../support/process.ts';
import { commandLine } from './cli.ts';

type Skip = TestContext['skip'];

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
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd };
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

test('every command and option of the help is in every script', async () => {
  const { run } = commandLine();
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { out } = await run(['completion', shell]);
    for (const command of [
      '',
      'keys create',
      'keys rotate',
      'import',
      'export',
      'backup',
      'restore',
      'doctor',
    ]) {
      const help = (await run([...command.split(' '), '--help'].filter((word) => word !== ''))).out;
      for (const [, name = ''] of help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)) {
        expect(out, `${shell}: ${command} --${name}`).toContain(
          shell === 'fish' ? `-l ${name} ` : `--${name}`,
        );
      }
    }
  }
});
