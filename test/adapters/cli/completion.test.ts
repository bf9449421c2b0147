/** The completion scripts, in the real shells. A test is skipped where its shell is not installed. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { temporaryFolder } from '../../support/process.ts';
import { commandLine } from './cli.ts';

type Skip = TestContext['skip'];

const { run } = commandLine();

/**
 * Runs commands of a shell after the completion script, in a folder with a file `my pets.db`. A program `animal-store` prints
 * what the command prints for the words so far.
 */
async function inShell(shell: string, commands: string, words: readonly string[], skip: Skip) {
  if (spawnSync(shell, ['--version']).error !== undefined) skip(`${shell} is not installed`);
  const folder = temporaryFolder();
  const { out } = await run(['completion', shell]);
  const asked = await run(['completion', shell, '--', ...words]);
  const program = `#!/bin/sh\n[ "\${*#*--}" = ' ${words.join(' ')}' ] && cat <<'END'\n${asked.out}END\n`;
  writeFileSync(join(folder, 'animal-store'), program, { mode: 0o755 });
  writeFileSync(join(folder, 'my pets.db'), '');
  writeFileSync(
    join(folder, 'script'),
    `${shell === 'zsh' ? 'autoload -Uz compinit; compinit -D -u\n' : ''}${out}\n${commands}\n`,
  );
  const env = { PATH: [folder, process.env['PATH']].join(delimiter), HOME: folder };
  const flag = { bash: '--norc', zsh: '-f', fish: '--no-config' }[shell] ?? '';
  const { stdout, stderr } = spawnSync(shell, [flag, 'script'], { encoding: 'utf8', cwd: folder, env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** The lines that can be completed, and the expected words. A vertical bar separates the words as the shell does. */
const CASES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['keys|', ['create', 'list', 'revoke', 'rotate']],
  ['ex', ['export']],
  ['keys|list|--a', ['--active']],
  ['export|--status|', ['available', 'pending', 'sold']],
  ['--database-url|sqlite:x|completion|', ['bash', 'zsh', 'fish']],
  ['serve|--ho', ['--host']],
];

const DASH = /^-/;

test.each(CASES)('the words for %s', async (line, expected) => {
  const words = line.split('|');
  const last = words.pop() ?? '';
  const { status, out, err } = await run(['completion', 'bash', '--', 'animal-store', ...words]);
  expect([status, err]).toEqual([0, '']);
  const found = out.split('\n').filter((word) => word !== '' && word.startsWith(last));
  expect(found.filter((word) => last !== '' || !DASH.test(word)).toSorted()).toEqual(expected.toSorted());
});

describe.each([
  ['bash', (words: readonly string[]) => bashCall(words)],
  ['zsh', (words: readonly string[]) => `emulate ksh\n${bashCall(words)}`],
  ['fish', (words: readonly string[]) => `complete -C '${words.join(' ')}'`],
])('%s completes', (shell, commands) => {
  test.for([
    ['a command', ['animal-store', 'keys', 'cr'], ['create']],
    ['a value', ['animal-store', 'export', '--status', 'p'], ['pending']],
    ['an option', ['animal-store', 'import', '--dry'], ['--dry-run']],
  ] as const)('%s', async ([_, words, expected], { skip }) => {
    const found = await inShell(shell, commands(words), words.slice(0, -1), skip);
    const shown = found.map((word) => word.split('\t')[0] ?? '');
    // zsh itself leaves out what does not match.
    expect(shown.filter((word) => word.startsWith(words.at(-1) ?? ''))).toEqual(expected);
  });
});

function bashCall(words: readonly string[]): string {
  const list = words.map((word) => `'${word}'`).join(' ');
  return `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _animal_store; printf '%s\\n' "\${COMPREPLY[@]}"`;
}
