/** Logs that nobody reads, and logs on a full disk, a full device, a stopped terminal or a slow reader. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import {
  canMakeDevices,
  expectOneGap,
  flood,
  fullDevice,
  LONG_LINES,
  linesOf,
  MANY,
  numbersOf,
  Pipe,
  READS,
  serve,
} from '../support/log-streams.ts';
import { BIN, OPERATOR_KEY, runCommand, stopService, temporaryFolder } from '../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../support/small-disk.ts';

const ENDED = { code: 0, signal: null };

/** A number of requests whose log lines fit neither into the pipe or the small disk nor into the buffer of the server. */
const MANY_READS = 2 * MANY;

const deviceNote = canMakeDevices ? '' : ' (skipped: this user may not make a device)';
const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;
const scriptNote = hasScript ? '' : ' (skipped: there is no script of util-linux)';

test('the whole buffer is written if the log is read while the server stops', async () => {
  const pipe = new Pipe();
  const service = await serve({ stderr: pipe.path });
  await flood(service.origin, MANY_READS, READS);
  service.child.kill('SIGTERM');
  await expect.poll(() => pipe.read() && service.child.exitCode, { interval: 5 }).toBe(0);
  const lines = linesOf(pipe.read());
  const dropped = lines.find((line) => line['dropped'] !== undefined)?.['dropped'] as number;
  expect(numbersOf(lines).length + dropped).toBeGreaterThanOrEqual(MANY_READS);
});

test('no line is lost if the reader is slow, and every line is in a file', async () => {
  const pipe = new Pipe();
  const service = await serve({ stderr: pipe.path });
  for (let count = 0; count < 5; count += 1) {
    await flood(service.origin, 1000, READS);
    pipe.read();
  }
  service.child.kill('SIGTERM');
  await expect.poll(() => pipe.read() && service.child.exitCode, { interval: 5 }).toBe(0);
  expect(numbersOf(linesOf(pipe.read()))).toHaveLength(5000);
  expect(pipe.read()).not.toContain('"dropped"');

  const log = join(temporaryFolder(), 'log');
  const other = await serve({ stderr: log });
  await flood(other.origin, MANY_READS, READS);
  await stopService(other);
  const numbers = numbersOf(linesOf(readFileSync(log, 'utf8')));
  expect(numbers).toEqual(Array.from({ length: MANY_READS }, (_, index) => index));
});

test.skipIf(!canMakeDevices)(
  `a server keeps running when its log and its standard output are full devices${deviceNote}`,
  async () => {
    const service = await serve({ stderr: fullDevice() });
    await flood(service.origin, MANY, LONG_LINES);
    expect((await service.client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    expect(await stopService(service)).toEqual(ENDED);

    const other = await serve({ stdout: fullDevice() }, { API_KEYS: '' });
    expect(other.out.stderr).toContain('animal-store: standard output cannot be written: ENOSPC');
    expect((await other.client.get('/livez')).status).toBe(200);
    expect(await stopService(other)).toEqual(ENDED);

    const env = { DATABASE_URL: 'memory:', HOST: '192.0.2.1', STDERR: fullDevice() };
    const command = ['-c', 'exec "$0" "$@" 2>"$STDERR"', process.execPath, BIN, 'serve'];
    expect(await runCommand('sh', command, { env }).exit).toEqual({ code: 1, signal: null });
  },
);

test.skipIf(!canMount)(
  `a server keeps running when the disk of its log is full, and logs again when there is room${mountNote}`,
  async () => {
    const disk = new SmallDisk('256k');
    const log = join(disk.folder, 'log');
    const service = await serve({ stderr: log });
    await flood(service.origin, MANY_READS, LONG_LINES);
    disk.resize('16m');
    await expect.poll(() => readFileSync(log, 'utf8')).toContain('"dropped"');
    await service.client.get('/v1/pets', { 'X-Request-Id': `flood-${MANY_READS}` });
    expect(await stopService(service)).toEqual(ENDED);
    expectOneGap(linesOf(readFileSync(log, 'utf8')), MANY_READS + 1);
  },
);

test.skipIf(!hasScript)(`a server keeps running when its terminal is stopped${scriptNote}`, async () => {
  const pipe = new Pipe();
  const pid = join(temporaryFolder(), 'pid');
  const port = await freePort();
  const command = `echo $$ >${pid}; exec "${process.execPath}" "${BIN}" serve >${pid}.out`;
  runCommand('sh', ['-c', `exec script -qfec '${command}' ${pid}.log >${pipe.path}`], {
    env: { API_KEYS: OPERATOR_KEY, PORT: String(port), DATABASE_URL: 'memory:' },
  });
  const origin = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(origin).then(({ status }) => status, String)).toBe(404);
  await flood(origin, MANY, LONG_LINES);
  const server = Number(readFileSync(pid, 'utf8'));
  process.kill(server, 'SIGTERM');
  await expect.poll(() => isRunning(server)).toBe(false);
  expect(pipe.read()).toContain('listening');
});

/** Whether a process is running. A process that has ended is a zombie until its parent waits for it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
