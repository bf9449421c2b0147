/** Files that a command must not overwrite: those of the store, its input, and anything that is not a regular file. */

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identityOf, makeSpecialFiles } from '../../../support/special-files.ts';
import { type CommandLine, commandLine, line, type Run, withRex } from '../cli.ts';

/** The content of every regular file in a folder, and the identity of everything else. */
function contentsOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    return [entry.name, entry.isFile() ? readFileSync(path, 'base64') : identityOf(path)];
  });
  return Object.fromEntries(entries);
}

/** Runs a command that must be refused and change nothing. */
async function refused(cli: CommandLine, args: readonly string[], options = {}): Promise<string> {
  const folder = dirname(cli.path);
  const before = contentsOf(folder);
  const { status, out, err }: Run = await cli.run(args, options);
  expect([status, out, err.split('\n').length]).toEqual([2, '', 2]);
  expect(contentsOf(folder)).toEqual(before);
  return err;
}

/** Several names of one file. */
function namesOf(path: string): string[] {
  const folder = dirname(path);
  const [soft, hard, bound] = [join(folder, 'soft'), join(folder, 'hard'), join(folder, 'bound')];
  symlinkSync(path, soft);
  const names = [
    path,
    soft,
    relative('.', path),
    join(folder, '.', 'x', '..', path.slice(folder.length + 1)),
  ];
  mkdirSync(join(folder, 'x'));
  if (!existsSync(path)) return names;
  linkSync(path, hard);
  writeFileSync(bound, '');
  if (spawnSync('mount', ['--bind', path, bound]).status === 0) {
    onTestFinished(() => {
      spawnSync('umount', ['--lazy', bound]);
    });
    names.push(bound);
  }
  return [...names, hard];
}

const INPUT = `oops\n${line('Mia')}`;

describe('--refused is refused', () => {
  test('for the store, by any of its names', async () => {
    const cli = await withRex();
    for (const name of namesOf(cli.path)) {
      const err = await refused(cli, ['import', '--skip-invalid', '--refused', name, '-'], { stdin: INPUT });
      expect(err).toBe(`animal-store: --refused: ${name} belongs to the store\n`);
    }
  });

  test('for any file of the store, whether or not it exists, and creates none', async () => {
    const absent = commandLine();
    for (const { path, run } of [absent, await withRex()]) {
      for (const name of [
        relative('.', path),
        ...['-wal', '-shm', '-journal'].map((suffix) => path + suffix),
      ]) {
        const args = ['import', '--skip-invalid', '--refused', name, '-'];
        expect(await refused({ path, run }, args, { stdin: INPUT })).toContain('belongs to the store');
      }
    }
    expect(readdirSync(dirname(absent.path))).toEqual([]);
  });

  test('for the input, by any of its names', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'pets.ndjson');
    writeFileSync(file, INPUT);
    for (const name of namesOf(file)) {
      const err = await refused(cli, ['import', '--skip-invalid', '--refused', name, file]);
      expect(err).toBe(`animal-store: --refused: ${name} is the input file\n`);
    }
  });

  test('for the file of standard input', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'pets.ndjson');
    writeFileSync(file, INPUT);
    const fd = openSync(file, 'r');
    const stdin = Object.assign(Readable.from([Buffer.from(INPUT)]), { fd });
    const err = await refused(cli, ['import', '--skip-invalid', '--refused', file, '-'], { stdin });
    expect(err).toContain('is the input file');
    closeSync(fd);
  });

  test('for anything that is not a regular file', async () => {
    const cli = await withRex();
    for (const file of await makeSpecialFiles(dirname(cli.path))) {
      const err = await refused(cli, ['import', '--skip-invalid', '--refused', file, '-'], { stdin: INPUT });
      expect(err).toBe(`animal-store: --refused: ${file} is not a regular file\n`);
    }
  });

  test('for its default name too', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'pets.ndjson');
    writeFileSync(file, INPUT);
    const byDefault = `${file}.refused.ndjson`;
    for (const make of [
      () => linkSync(file, byDefault),
      () => symlinkSync(cli.path, byDefault),
      () => mkdirSync(byDefault),
    ]) {
      make();
      await refused(cli, ['import', '--skip-invalid', file]);
      rmSync(byDefault, { recursive: true });
    }
  });
});

describe('an import of a file of the store is refused', () => {
  test('by any of its names', async () => {
    const cli = await withRex();
    for (const name of namesOf(cli.path)) {
      expect(await refused(cli, ['import', name])).toBe(`animal-store: ${name} belongs to the store\n`);
    }
  });

  test('from standard input', async () => {
    const cli = await withRex();
    const fd = openSync(cli.path, 'r');
    const stdin = Object.assign(Readable.from([readFileSync(cli.path)]), { fd });
    expect(await refused(cli, ['import', '--skip-invalid', '-'], { stdin })).toBe(
      'animal-store: standard input belongs to the store\n',
    );
    closeSync(fd);
  });

  test('before a store is created in an empty file', async () => {
    const cli = commandLine();
    writeFileSync(cli.path, '');
    expect(await refused(cli, ['import', cli.path])).toContain('belongs to the store');
  });
});

describe('standard output to a file of the store is refused', () => {
  test.each(['export', 'keys list', 'keys create --name x', 'import -', 'serve'])(
    'by %s',
    async (command) => {
      const cli = await withRex();
      for (const file of [cli.path, `${cli.path}-journal`]) {
        const fd = openSync(file, 'a');
        const stdout = Object.assign(new Writable(), { fd });
        expect(await refused(cli, command.split(' '), { stdout, stdin: line('Mia') })).toBe(
          'animal-store: standard output belongs to the store\n',
        );
        closeSync(fd);
      }
    },
  );
});
