/** Tests the commands of the README without changes. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newPet } from '../../src/domain/pet.ts';
import { parsePetMembers, petJson } from '../../src/domain/pet-json.ts';
import { BIN, runCommand, temporaryFolder } from '../support/process.ts';
import { environmentOf, startInProcess } from '../support/service.ts';

const ROOT = dirname(dirname(BIN));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block.trim());
const LINES = BLOCKS.flatMap((block) => block.split('\n'));
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Shells that read commands as on a terminal. An interactive zsh has no comments, and `?` is a pattern. */
const SHELLS: Readonly<Record<string, readonly string[]>> = {
  sh: ['-e'],
  bash: ['--norc', '-e'],
  zsh: ['-f', '-i', '+m', '-s', '-e'],
};

describe('the README', () => {
  test('has only commands that are tested here', () => {
    const others = LINES.filter(
      (line) => !/^(npm |export ANIMAL_STORE_KEY=|curl |npx animal-store )/.test(line),
    );
    expect(others).toEqual([]);
  });

  test('has only npm commands that CI runs too', () => {
    const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8') + readFileSync(join(ROOT, '.ci/start'), 'utf8');
    const commands = LINES.filter((line) => line.startsWith('npm '));
    expect(commands).toContain('npm ci && npm start');
    expect(commands).toContain('npm ci && npm test');
    for (const command of commands) {
      for (const part of command.split(' && ')) expect(ci).toContain(part);
    }
  });

  for (const [shell, args] of Object.entries(SHELLS)) {
    const canRun = hasCurl && spawnSync(shell, ['-c', 'true']).status === 0;
    test.skipIf(!canRun)(
      `creates and lists pets with curl in ${shell} (skipped without the shell or curl)`,
      () => createAndList(shell, args),
    );
  }

  test('has commands that work after the start', async () => {
    const blocks = BLOCKS.filter((text) => text.startsWith('npx animal-store '));
    expect(blocks).toHaveLength(1);
    // In the README, `npm start` has created the store. The tests of the package run npx itself.
    const script = [
      'npx() { shift; "$NODE" "$BIN" "$@"; }',
      'npx animal-store keys create --create-store --name first > first-key',
      ...blocks,
    ];
    const env = { NODE: process.execPath, BIN };
    const { exit, out } = runCommand('sh', ['-ec', script.join('\n')], { cwd: temporaryFolder(), env });
    expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
    expect(out.stdout).toMatch(/^pets_[0-9A-Za-z]{49}\n/);
  });
});

/** Runs the commands of the README with curl on a new server, and expects a pet and a list, one line each. */
async function createAndList(shell: string, args: readonly string[]): Promise<void> {
  const { url, firstKey } = await startInProcess(await environmentOf('memory'));
  const block = BLOCKS.find((text) => text.startsWith('export ANIMAL_STORE_KEY=')) ?? '';
  const input = block
    .replace('pets_…', firstKey?.key ?? '')
    .replaceAll('http://127.0.0.1:3000', new URL(url).origin);
  const { exit, out } = runCommand(shell, args, { input: `${input}\n` });
  const [, json = ''] = /-d '(\{.*?\})'/.exec(input) ?? [];
  const pet = petJson({ id: 1n, ...newPet(parsePetMembers(json)) });
  expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
  expect(out.stdout).toContain(`${pet}\n[${pet}]\n`);
}
