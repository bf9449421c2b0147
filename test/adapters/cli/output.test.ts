/** When standard output cannot be written, the error says what was done. */

import { closeSync, openSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { consoleOf } from '../../../src/adapters/cli/console.ts';
import { REX } from '../../support/pets.ts';
import { temporaryFile } from '../sqlite/temporary-file.ts';
import {
  abortingOutput,
  type CommandLine,
  commandLine,
  failed,
  failingOutput,
  inMemory,
  line,
  type Run,
  withRex,
} from './cli.ts';

function withFailing(cli: CommandLine, code: string, ...args: string[]): Promise<Run> {
  return cli.run(args, { stdin: line(1), stdout: failingOutput(code) });
}

/** Returns an output with the descriptor of a file, as the one of a process has. */
function openedOutput(path: string, flags: string): PassThrough {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return Object.assign(new PassThrough(), { fd });
}

describe('a result that cannot be written', () => {
  test.each([
    ['Imported 1 pet.', 'import -'],
    ['Imported 1 pet.', 'import - --json'],
    ['Pet 1 is removed.', 'pets remove 1 --json'],
    ['Key 1 (shop) is revoked.', 'keys revoke 1 --json'],
    ['A new epoch has begun: every follower must begin again.', 'changes --new-epoch'],
  ])(
    'is said on standard error, also after a signal while the reader has stalled: %s',
    async (done, args) => {
      const cli = inMemory();
      await cli.openStore().createPet(REX);
      await cli.openStore().apiKeys.create('shop');
      const err = `${done}\nanimal-store: standard output cannot be written: `;
      const full = await withFailing(cli, 'ENOSPC', ...args.split(' '));
      expect(full).toEqual({ status: 1, out: '', err: `${err}ENOSPC: no\n` });
      const stalled = await cli.run(args.split(' '), { stdin: line(1), ...abortingOutput() });
      expect(stalled).toEqual({ status: 1, out: '', err: `${err}interrupted\n` });
    },
  );

  test.each([
    ['keys list', 'interrupted; the output is not complete'],
    ['pets list', 'interrupted; the output is not complete'],
    ['changes', 'interrupted; the output is not complete'],
    ['export', 'interrupted; the export is not complete'],
    ['doctor', 'standard output cannot be written: interrupted'],
    ['--help', 'standard output cannot be written: interrupted'],
  ])('of a reader that has stalled ends with the signal: %s', async (args, fault) => {
    const cli = await withRex();
    await cli.run(['keys', 'create', '--name', 'shop']);
    expect(await cli.run(args.split(' '), abortingOutput())).toEqual(failed(1, fault));
  });

  test.each(['ENOSPC', 'EPIPE'])('of a new key says that the key is lost: %s', async (code) => {
    const cli = inMemory();
    const still = /; key 1 still expires by .* UTC: rotate it again\n$/;
    for (const [id, args, end] of [
      ['1', ['keys', 'create', '--name', 'shop'], /keys revoke 1, with the same settings\n$/],
      ['2', ['keys', 'rotate', '1', '--json'], still],
    ] as const) {
      const { status, err } = await withFailing(cli, code, ...args);
      expect(status).toBe(1);
      expect(err).toContain(
        `animal-store: key ${id} was created but is lost: standard output cannot be written: ${code}: no; revoke it: animal-store keys revoke ${id}`,
      );
      expect(err).toMatch(end);
    }
    expect(await cli.run(['keys', 'rotate', '1'])).toMatchObject({ status: 0 });
  });

  test('of a new key is prevented: no key is created if standard output is the null device', async () => {
    const cli = inMemory();
    await cli.run(['keys', 'create', '--name', 'shop']);
    const stdout = openedOutput(devNull, 'w');
    for (const command of ['keys create --name more', 'keys rotate 1 --json']) {
      expect(await cli.run(command.split(' '), { stdout })).toEqual(
        failed(1, 'standard output is closed or the null device, so the new key would be lost'),
      );
    }
    expect(JSON.parse((await cli.run(['keys', 'list', '--json'])).out)).toMatchObject([{ expiresAt: null }]);
  });

  test.each(['export', 'changes', 'import - --skip-invalid'])(
    'is prevented if standard output is closed: nothing is read or written by %s',
    async (args) => {
      const cli = await withRex();
      // As Node.js opens the null device in place of a closed descriptor.
      const stdout = openedOutput(devNull, 'r+');
      const message = 'standard output is closed, so the data would be lost: redirect it to a file';
      expect(await cli.run(args.split(' '), { stdin: line(2), stdout })).toEqual(failed(1, message));
      expect((await cli.run(['export'])).out.trim().split('\n')).toHaveLength(1);
    },
  );

  test.each([[['keys', 'list']], [['pets', 'list']], [['export']], [['openapi']], [['--help']]])(
    'of %j is a failure',
    async (args) => {
      const cli = inMemory();
      await cli.run(['keys', 'create', '--name', 'shop']);
      await cli.openStore().createPet(REX);
      expect(await withFailing(cli, 'ENOSPC', ...args)).toEqual(
        failed(1, 'standard output cannot be written: ENOSPC: no'),
      );
      expect(await withFailing(cli, 'EPIPE', ...args)).toEqual({ status: 0, out: '', err: '' });
    },
  );
});

test('a result in a regular file is written without the stream, which would hide that a write failed', async () => {
  const path = temporaryFile();
  const runWith = (flags: string) => commandLine().run(['openapi'], { stdout: openedOutput(path, flags) });
  expect((await runWith('w')).status).toBe(0);
  expect(readFileSync(path, 'utf8')).toBe('{"openapi":"3.1.0"}\n');
  const { status, err } = await runWith('r');
  expect([status, err]).toEqual([
    1,
    expect.stringMatching(/^animal-store: standard output cannot be written: E\w+: /),
  ]);
});

test('write errors of standard error are ignored', async () => {
  const written: string[] = [];
  const stdout = new PassThrough().on('data', (chunk) => written.push(String(chunk)));
  const streams = { stdin: process.stdin, stdout, stderr: failingOutput('ENOSPC') };
  const { err, out } = consoleOf(streams, new AbortController().signal);
  err('lost');
  await out('first');
  err('lost too');
  await out('second');
  expect(written).toEqual(['first', 'second']);
});
