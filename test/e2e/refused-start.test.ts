/** The real command reports that it cannot start. test/composition/refused-start.test.ts has the reasons. */

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/clock.ts';
import { BIN, type RunOptions, runBin, runCommand, stopService } from '../support/process.ts';
import { endOf, lines, Workspace } from './workspace.ts';

async function expectRefusal(status: number, message: string, options: RunOptions): Promise<void> {
  const { out, exit } = runBin(['serve'], options);
  expect(await exit).toEqual({ code: status, signal: null });
  expect(out).toEqual({ stdout: '', stderr: `animal-store: ${message}\n` });
}

test('a start with wrong settings ends with status 2 and one line for each', async () => {
  const message = [
    "PORT: expected an integer from 0 to 65535, got 'x'",
    "TRUST_PROXY: expected the number of proxies in front of the server, from 0 to 100, got 'x'",
  ].join('\nanimal-store: ');
  await expectRefusal(2, message, { env: { PORT: 'x', TRUST_PROXY: 'x' } });
});

test.each(['22.11.0', '20.20.2', '8.0.0'])('Node.js %s is not supported', async (version) => {
  const fake = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(fake)}`];
  await expectRefusal(1, `expected Node.js 22.12 or later, got ${version}`, { nodeArgs });
});

test.each([
  [['serve'], 'API_KEYS_FILE'],
  [['doctor'], 'API_KEYS_FILE'],
  [['import', 'pets.ndjson'], 'DATABASE_URL_FILE'],
])(
  'a signal ends %j, which reads a secret from a pipe whose writer writes nothing: %s',
  async (args, name) => {
    const work = new Workspace();
    const pipe = work.path('pipe');
    execFileSync('mkfifo', [pipe]);
    writeFileSync(work.path('pets.ndjson'), lines(1));
    const running = runBin(args, { cwd: work.folder, env: { [name]: pipe } });
    let writer: number | undefined;
    onTestFinished(() => void (writer !== undefined && closeSync(writer)));
    // The pipe can be opened as soon as the command waits for its writer.
    await until(() => {
      try {
        writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
        return true;
      } catch {
        return false;
      }
    });
    expect(await stopService(running)).toEqual({ code: null, signal: 'SIGTERM' });
  },
);

test('a secret in a pipe, which can be read only once, is used by a command that reads it twice', async () => {
  const work = new Workspace();
  await work.addPets(1);
  const script = `echo sqlite:copy.db | "$NODE" "$BIN" import --create-store sqlite:pets.db`;
  const env = { DATABASE_URL_FILE: '/dev/stdin', NODE: process.execPath, BIN };
  expect(await endOf(runCommand('sh', ['-c', script], { cwd: work.folder, env }))).toEqual({
    status: 0,
    out: `Imported 1 pet from ${work.store}.\n`,
    err: '',
  });
});
