/** Control characters in a file, an argument or a store never reach the terminal. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { newPetJson } from '../../../src/domain/pet-json.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { EVIL, hasUnsafe } from '../../support/unsafe-text.ts';
import { commandLine, exportOf, inMemory, line, type Run, withRex } from './cli.ts';

/** File names and arguments cannot contain U+0000. */
const EVIL_NAME = EVIL.replace('\0', '');

function expectEscaped({ out, err }: Run): void {
  expect(hasUnsafe(out + err)).toBe(false);
  expect(out + err).toContain('\\u001b]0;x\\u0007\\u009b31m');
}

describe('an error message escapes', () => {
  test.each([
    [['import', EVIL_NAME]],
    [['export', '--after', EVIL_NAME]],
    [['keys', 'revoke', EVIL_NAME]],
    [['backup', `/no/${EVIL_NAME}`]],
    [[EVIL_NAME]],
    [[`--${EVIL_NAME}`]],
  ])('the arguments of %j', async (args) => {
    const cli = args[0] === 'backup' ? await withRex() : inMemory();
    for (const isTerminal of [true, false]) {
      const run = await cli.run(args, { isTerminal });
      expect(run.status).not.toBe(0);
      expectEscaped(run);
    }
  });

  test.each([[['import', 'a\nanimal-store: all is well']], [['x\nanimal-store: all is well']]])(
    'a line feed, which would forge a message: %j',
    async (args) => {
      const { err } = await commandLine().run(args);
      expect(err).toMatch(/^animal-store: .*\\u000aanimal-store: all is well.*\n$/);
    },
  );
});

describe('a result escapes', () => {
  test('the names of files', async () => {
    const cli = commandLine();
    const folder = join(dirname(cli.path), `${EVIL_NAME}\nforged`);
    mkdirSync(folder);
    const file = join(folder, 'pets.ndjson');
    writeFileSync(file, `${line(1)}oops ${EVIL}\n`);
    const imported = await cli.run(['import', '--create-store', '--skip-invalid', file], {
      isTerminal: true,
    });
    expect(imported.status).toBe(0);
    expectEscaped(imported);
    expect(imported.out).toContain('oops ');
    const backup = await cli.run(['backup', join(folder, 'copy.db')], { isTerminal: true });
    expect(backup.status).toBe(0);
    expectEscaped(backup);
    expect(backup.out.trim().split('\n')).toHaveLength(1);
    const run = await cli.run(['backup', '--json', '--force', join(folder, 'copy.db')]);
    expectEscaped(run);
    expect(JSON.parse(run.out).file).toBe(join(folder, 'copy.db'));
  });

  test('the names of keys, which another program has written', async () => {
    const storage = openMemoryStorage();
    await storage.apiKeys.add('some key', { name: `${EVIL}\nforged`, prefix: EVIL, createdAt: Date.now() });
    const cli = inMemory(storage);
    for (const command of ['keys list', 'keys rotate 1', 'keys revoke 1']) {
      const run = await cli.run(command.split(' '), { isTerminal: true });
      expect(run.status).toBe(0);
      expectEscaped(run);
      expect(run.out + run.err).not.toMatch(/^forged/m);
    }
  });

  test('refused lines only on a terminal', async () => {
    const [cli, stdin] = [inMemory(), `oops ${EVIL_NAME}\n`];
    const args = ['import', '--skip-invalid', '-'];
    expect((await cli.run(args, { stdin })).out).toBe(stdin);
    expectEscaped(await cli.run(args, { stdin, isTerminal: true }));
  });

  const UNSAFE = '\u009b31m\u007f\u202e';
  const json = newPetJson(samplePet(EVIL_NAME));
  test.runIf(json.includes(UNSAFE))('the pets of an export only on a terminal', async () => {
    const cli = inMemory();
    await cli.run(['import', '-'], { stdin: `${json}\n` });
    expect(await exportOf(cli)).toContain(UNSAFE);
    expectEscaped(await cli.run(['export'], { isTerminal: true }));
  });
});
