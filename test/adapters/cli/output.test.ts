/** When standard output cannot be written, the error says what was done. */

import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { consoleOf } from '../../../src/adapters/cli/console.ts';
import { temporaryFolder } from '../sqlite/temporary-file.ts';
import { type CommandLine, commandLine, exportOf, line, type Run, withRex } from './cli.ts';
import { mountSmallDisk } from './small-disk.ts';

/** A stream whose every write fails. */
function failing(code: string): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: no`), { code })),
  });
}

function withFailing(cli: CommandLine, code: string, ...args: string[]): Promise<Run> {
  return cli.run(args, { stdin: line('Mia'), stdout: failing(code) });
}

describe('a result that cannot be written', () => {
  test('of an import says that the pets are stored', async () => {
    const cli = await withRex();
    for (const args of [[], ['--json'], ['--skip-invalid']]) {
      const before = (await exportOf(cli)).split('\n').length;
      expect(await withFailing(cli, 'ENOSPC', 'import', '-', ...args)).toEqual({
        status: 1,
        out: '',
        err: 'animal-store: imported 1 pet, but standard output cannot be written: ENOSPC: no\n',
      });
      expect((await exportOf(cli)).split('\n').length).toBe(before + 1);
    }
  });

  test('of an import has the same message after a signal', async () => {
    const cli = await withRex();
    const end = new AbortController();
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        end.abort();
        done(new Error('ENOSPC: no'));
      },
    });
    const { err } = await cli.run(['import', '-'], { stdin: line('Mia'), stdout, signal: end.signal });
    expect(err).toBe('animal-store: imported 1 pet, but standard output cannot be written: ENOSPC: no\n');
  });

  test('of a backup says where the backup is', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'copy.db');
    const { status, err } = await withFailing(cli, 'ENOSPC', 'backup', file);
    expect(status).toBe(1);
    expect(err).toBe(
      `animal-store: backed up to ${file}, but standard output cannot be written: ENOSPC: no\n`,
    );
    expect(await exportOf(commandLine(file))).toBe(await exportOf(cli));
  });

  test.each(['ENOSPC', 'EPIPE'])('of a new key says that the key could not be shown: %s', async (code) => {
    const cli = await withRex();
    for (const [id, args] of [
      ['1', ['keys', 'create', '--create-store', '--name', 'shop']],
      ['2', ['keys', 'rotate', '1', '--json']],
    ] as const) {
      const { status, err } = await withFailing(cli, code, ...args);
      expect(status).toBe(1);
      expect(err).toBe(
        `animal-store: key ${id} was created but could not be shown, revoke it: standard output cannot be written: ${code}: no\n`,
      );
    }
  });

  test('of a revocation says that the key is revoked', async () => {
    const cli = await withRex();
    await cli.run(['keys', 'create', '--create-store', '--name', 'shop']);
    const { status, err } = await withFailing(cli, 'ENOSPC', 'keys', 'revoke', '1');
    expect(status).toBe(1);
    expect(err).toMatch(/^animal-store: key 1 \(shop\) is revoked, but standard output cannot be written/);
  });

  test.each([[['keys', 'list']], [['keys', 'list', '--json']], [['openapi']], [['--help']], [['--version']]])(
    'of %j is a failure',
    async (args) => {
      const cli = await withRex();
      await cli.run(['keys', 'create', '--create-store', '--name', 'shop']);
      expect(await withFailing(cli, 'ENOSPC', ...args)).toEqual({
        status: 1,
        out: '',
        err: 'animal-store: standard output cannot be written: ENOSPC: no\n',
      });
      expect(await withFailing(cli, 'EPIPE', ...args)).toEqual({ status: 0, out: '', err: '' });
    },
  );
});

test('write errors of standard error are ignored', async () => {
  const { errRaw, out } = consoleOf({
    stdin: process.stdin,
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: failing('ENOSPC'),
  });
  errRaw('first');
  await out('first');
  errRaw('second');
  await out('second');
});

test('a write fails when the disk has room for a part of the text only', async ({ skip }) => {
  const folder = join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  if (!mountSmallDisk(folder, '64k')) skip('this user cannot mount a file system');
  const fd = openSync(join(folder, 'out'), 'w');
  const stdout = Object.assign(new Writable(), { fd });
  const { out } = consoleOf({ stdin: process.stdin, stdout, stderr: process.stderr });
  await out('é'.repeat(1000));
  await expect(out('x'.repeat(100_000))).rejects.toThrow(/^standard output cannot be written: ENOSPC/);
  closeSync(fd);
  expect(readFileSync(join(folder, 'out'), 'utf8')).toMatch(/^é{1000}x+$/);
});
