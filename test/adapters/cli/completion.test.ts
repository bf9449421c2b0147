/** The completion scripts, in the real shells. A test is skipped where its shell is not installed. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { temporaryFolder } from '../../support/process.ts';
import { commandLine } from './cli.ts';

type Skip = TestContext['skip'];

const { run } = commandLine();

const WORDS = ['animal-store', 'export', '--status'];

/** In a terminal, somebody types a line, presses Tab for the first time, and runs the line. */
const ZSH = `zmodload zsh/zpty
zpty terminal "PS1= zsh -f -i"
zpty -w terminal "fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -D -u; bindkey '^I' complete-word; print READ''Y"
zpty -r -m terminal shown '*READY*'
zpty -w terminal 'animal-store export --status pe'$'\\t'
zpty -r -m terminal shown '*RAN *END*'
print -r -- "\${shown##*RAN}"`;

const BASH = `COMP_WORDS=(${WORDS.join(' ')} p); COMP_CWORD=3; _animal_store; printf '%s\\n' "\${COMPREPLY[@]}"`;

/**
 * Runs commands of a shell after the completion script, in a folder with a file `my pets.db`. A program `animal-store` prints
 * what the command prints for the words so far.
 */
async function inShell(shell: string, commands: string, words: readonly string[], skip: Skip) {
  if (spawnSync(shell, ['--version']).error !== undefined) skip(`${shell} is not installed`);
  const folder = temporaryFolder();
  const { out } = await run(['completion', shell]);
  const asked = await run(['completion', shell, '--', ...words]);
  const program = `#!/bin/sh\n[ "\${*#*--}" = ' ${words.join(' ')}' ] && exec cat <<'END'\n${asked.out}END\necho RAN "$@" END\n`;
  writeFileSync(join(folder, 'animal-store'), program, { mode: 0o755 });
  writeFileSync(join(folder, 'my pets.db'), '');
  // zsh loads this file on the first Tab.
  writeFileSync(join(folder, '_animal-store'), out);
  writeFileSync(join(folder, 'script'), `${shell === 'zsh' ? '' : out}\n${commands}\n`);
  const env = { PATH: [folder, process.env['PATH']].join(delimiter), HOME: folder };
  const flag = { bash: '--norc', zsh: '-f', fish: '--no-config' }[shell] ?? '';
  const { stdout, stderr } = spawnSync(shell, [flag, 'script'], {
    encoding: 'utf8',
    cwd: folder,
    env,
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** A vertical bar separates the words as the shell does. */
test.each([
  ['keys|', ['create', 'list', 'revoke', 'rotate']],
  ['ex', ['export']],
  ['export|--status|', ['available', 'pending', 'sold']],
  ['--database-url|sqlite:x|completion|', ['bash', 'zsh', 'fish']],
])('the words for %s', async (line, expected) => {
  const words = line.split('|');
  const last = words.pop() ?? '';
  const { status, out, err } = await run(['completion', 'bash', '--', 'animal-store', ...words]);
  expect([status, err]).toEqual([0, '']);
  const found = out.split('\n').filter((word) => word !== '' && word.startsWith(last));
  expect(found.filter((word) => last !== '' || !word.startsWith('-')).toSorted()).toEqual(
    expected.toSorted(),
  );
});

test.for([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', "complete -C 'animal-store export --status=p'"],
  ['fish', "complete -C 'animal-store export --status p'"],
] as const)('%s completes a value', async ([shell, commands], { skip }) => {
  const found = await inShell(shell, commands, WORDS, skip);
  // zsh has shown the whole line, and fish the whole word.
  expect(found.flatMap((line) => line.match(/\bpend\w*/g) ?? [])).toEqual(['pending']);
});
