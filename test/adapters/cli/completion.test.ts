/** The completion scripts, in the real shells. A test is skipped where its shell is not installed. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { ATTRIBUTES, PET_ATTRIBUTES } from '../../../src/domain/pet.ts';
import { sampleValues } from '../../../src/testing/fixtures/pets.ts';
import { optionsOf } from '../../support/pets.ts';
import { temporaryFolder } from '../../support/process.ts';
import { commandLine } from './cli.ts';

type Skip = TestContext['skip'];

const { run } = commandLine();

/** An attribute of the kind `one of`, the start of its longest value, and its option. */
const CHOICE = PET_ATTRIBUTES.find((name) => ATTRIBUTES[name].kind === 'one of');
const VALUES = CHOICE === undefined ? [] : sampleValues(ATTRIBUTES[CHOICE]).map(String);
const [VALUE = ''] = VALUES.toSorted((one, other) => other.length - one.length);
const START = VALUE.slice(0, -1);
const OPTION = CHOICE === undefined ? '' : (optionsOf({ [CHOICE]: '' as never })[0]?.slice(0, -1) ?? '');
const WORDS = ['animal-store', 'pets', 'create', OPTION];

/** Types a line in a terminal, presses Tab for the first time, and runs the line. */
const ZSH = `zmodload zsh/zpty
zpty terminal "PS1= zsh -f -i"
zpty -w terminal "fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -D -u; bindkey '^I' complete-word; print READ''Y"
zpty -r -m terminal shown '*READY*'
zpty -w terminal '${WORDS.join(' ')} ${START}'$'\\t'
zpty -r -m terminal shown '*RAN *END*'
print -r -- "\${shown##*RAN}"`;

const BASH = `COMP_WORDS=(${WORDS.join(' ')} ${START}); COMP_CWORD=4; _animal_store; printf '%s\\n' "\${COMPREPLY[@]}"`;

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
  const options = { encoding: 'utf8', cwd: folder, env, timeout: 60_000 } as const;
  const { stdout, stderr } = spawnSync(shell, [flag, 'script'], options);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** In each line, vertical bars separate the words that the shell passes. */
test.each([
  ['keys|', ['create', 'list', 'revoke', 'rotate']],
  ['ex', ['export']],
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

test.runIf(CHOICE)('the words for an option are its values', async () => {
  expect((await run(['completion', 'bash', '--', ...WORDS])).out.trim().split('\n')).toEqual(VALUES);
});

const COMPLETIONS = [
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', `complete -C '${WORDS.join(' ')}=${START}'`],
  ['fish', `complete -C '${WORDS.join(' ')} ${START}'`],
] as const;
test.for(START === '' ? [] : COMPLETIONS)('%s completes a value', async ([shell, commands], { skip }) => {
  const found = await inShell(shell, commands, WORDS, skip);
  // zsh has shown the whole line, and fish the whole word.
  expect(found.flatMap((line) => line.split(/[\s=]/)).filter((word) => word.startsWith(START))).toEqual(
    VALUES.filter((value) => value.startsWith(START)),
  );
});
