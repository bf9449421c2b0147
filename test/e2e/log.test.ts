/** Tests a server whose standard output or standard error is not read, is closed or is full. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AUTHORIZED,
  canMakeDevices,
  flood,
  freePort,
  fullDevice,
  type Line,
  linesOf,
  Pipe,
  serve,
} from '../support/log-streams.ts';
import {
  BIN,
  OPERATOR_KEY,
  runBin,
  runCommand,
  type Service,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';

const ENDED = { code: 0, signal: null };

/** A number of requests whose log lines do not fit into the pipe and the buffer of the server. */
const MANY = 12_000;

const noDevices = canMakeDevices ? '' : ' (skipped: this user may not make a device)';
const noMount = canMount ? '' : ' (skipped: this user may not mount a file system)';
const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

function numbersOf(lines: readonly Line[]): number[] {
  return lines
    .map(({ requestId }) => Number(/^flood-(\d+)$/.exec(String(requestId))?.[1]))
    .filter(Number.isInteger);
}

/** Expects that each request is either logged or counted as dropped, and that the log has only one gap. */
function expectOneGap(lines: readonly Line[], count: number): void {
  const gaps = lines.filter((line) => line['dropped'] !== undefined);
  const dropped = gaps[0]?.['dropped'] as number;
  expect(gaps).toEqual([{ level: 40, time: expect.any(String), dropped, msg: 'log lines dropped' }]);
  expect(dropped).toBeGreaterThan(0);
  const numbers = numbersOf(lines);
  expect(numbers).toEqual([...new Set(numbers)]);
  expect(numbers.length + dropped).toBe(count);
}

async function expectStopInTime(service: Service): Promise<void> {
  const startedAt = performance.now();
  expect(await stopService(service)).toEqual(ENDED);
  expect(performance.now() - startedAt).toBeLessThan(5000);
}

describe('a server whose log nobody reads', { timeout: 60_000 }, () => {
  test('responds to every request, and stops on SIGTERM, when its log is a pipe', async () => {
    const service = await serve({ stderr: new Pipe().path });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    await expectStopInTime(service);
  });

  test('responds to every request, and stops on SIGTERM, when its log is a socket', async () => {
    const service = await serve({});
    service.child.stderr?.pause();
    await flood(service.origin, MANY, 200, AUTHORIZED);
    service.child.kill('SIGTERM');
    await expect.poll(() => service.child.exitCode, { timeout: 5000 }).toBe(0);
  });

  test('writes its buffer and the number of dropped lines when the log is read again', async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    await expect.poll(() => pipe.read(), { timeout: 10_000 }).toContain('"dropped"');
    await service.client.get('/v1/pets', { 'X-Request-Id': `flood-${MANY}` });
    await expect.poll(() => pipe.read()).toContain(`flood-${MANY}`);
    await stopService(service);
    const lines = linesOf(pipe.read());
    expectOneGap(lines, MANY + 1);
    expect(lines[0]).toMatchObject({ msg: 'listening' });
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('writes its whole buffer if the log is read while the server stops', async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    service.child.kill('SIGTERM');
    await expect.poll(() => pipe.read() && service.child.exitCode, { interval: 5, timeout: 5000 }).toBe(0);
    const lines = linesOf(pipe.read());
    const dropped = lines.find((line) => line['dropped'] !== undefined)?.['dropped'] as number;
    expect(numbersOf(lines).length + dropped).toBeGreaterThanOrEqual(MANY);
  });

  test('loses no line if the reader is slow', async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    for (let count = 0; count < 5; count += 1) {
      await flood(service.origin, 1000, 200, AUTHORIZED);
      pipe.read();
    }
    service.child.kill('SIGTERM');
    await expect.poll(() => pipe.read() && service.child.exitCode, { interval: 5, timeout: 5000 }).toBe(0);
    expect(numbersOf(linesOf(pipe.read()))).toHaveLength(5000);
    expect(pipe.read()).not.toContain('"dropped"');
  });
});

describe('a server', { timeout: 60_000 }, () => {
  test('keeps running when the reader of its log has closed the pipe', async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    pipe.close();
    await flood(service.origin, MANY, 200, AUTHORIZED);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    await expectStopInTime(service);
  });

  test.skipIf(!canMakeDevices)(`keeps running when its log is a full device${noDevices}`, async () => {
    const service = await serve({ stderr: fullDevice() });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    expect((await service.client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    await expectStopInTime(service);
  });

  test.skipIf(!canMount)(
    `keeps running when the disk of its log is full, and logs again when there is room${noMount}`,
    async () => {
      const disk = new SmallDisk('256k');
      const log = join(disk.folder, 'log');
      const service = await serve({ stderr: log });
      await flood(service.origin, MANY, 200, AUTHORIZED);
      disk.resize('16m');
      await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 10_000 }).toContain('"dropped"');
      await service.client.get('/v1/pets', { 'X-Request-Id': `flood-${MANY}` });
      await expectStopInTime(service);
      expectOneGap(linesOf(readFileSync(log, 'utf8')), MANY + 1);
    },
  );

  test('keeps running when its terminal is stopped', { skip: !hasScript }, async () => {
    const pipe = new Pipe();
    const pid = join(temporaryFolder(), 'pid');
    const port = await freePort();
    const command = `echo $$ >${pid}; exec "${process.execPath}" "${BIN}" serve >${pid}.out`;
    runCommand('sh', ['-c', `exec script -qfec '${command}' ${pid}.log >${pipe.path}`], {
      env: { API_KEYS: OPERATOR_KEY, PORT: String(port), DATABASE_URL: 'memory:' },
    });
    const origin = `http://127.0.0.1:${port}`;
    await expect
      .poll(() => fetch(origin).then(({ status }) => status, String), { timeout: 10_000 })
      .toBe(404);
    await flood(origin, MANY, 200, AUTHORIZED);
    const server = Number(readFileSync(pid, 'utf8'));
    process.kill(server, 'SIGTERM');
    await expect.poll(() => isRunning(server), { timeout: 5000 }).toBe(false);
    expect(pipe.read()).toContain('listening');
  });

  test('writes every line to a file', async () => {
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stderr: log });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    await stopService(service);
    const lines = linesOf(readFileSync(log, 'utf8'));
    const numbers = numbersOf(lines).toSorted((one, other) => one - other);
    expect(numbers).toEqual(Array.from({ length: MANY }, (_, index) => index));
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('is not blocked by a standard output that nobody reads', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stdout: pipe.path, stderr: log }, { API_KEYS: '' });
    expect((await service.client.get('/livez')).status).toBe(200);
    await expectStopInTime(service);
    expect(linesOf(readFileSync(log, 'utf8')).at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('keeps running when the reader of standard output has closed the pipe', async () => {
    const { child, out } = runBin(['serve'], { env: { DATABASE_URL: 'memory:' } });
    child.stdout?.destroy();
    await expect.poll(() => out.stderr, { timeout: 10_000 }).toContain('"listening"');
    const { url } = linesOf(out.stderr)[0] as { url?: string };
    expect((await fetch(`${new URL(url ?? '').origin}/livez`)).status).toBe(200);
    child.kill('SIGTERM');
    await expect.poll(() => child.exitCode, { timeout: 10_000 }).toBe(0);
  });

  test.skipIf(!canMakeDevices)(`keeps running when standard output is full${noDevices}`, async () => {
    const service = await serve({ stdout: fullDevice() }, { API_KEYS: '' });
    expect(service.out.stderr).toContain('animal-store: standard output cannot be written: ENOSPC');
    expect((await service.client.get('/livez')).status).toBe(200);
    await expectStopInTime(service);
  });

  test('that cannot start exits with status 1 even if its error cannot be written', async () => {
    const pipe = new Pipe();
    pipe.fill();
    for (const stderr of [pipe.path, ...(canMakeDevices ? [fullDevice()] : [])]) {
      const { exit } = runCommand(
        'sh',
        ['-c', 'exec "$0" "$@" 2>"$STDERR"', process.execPath, BIN, 'serve'],
        {
          env: { DATABASE_URL: 'memory:', HOST: '192.0.2.1', STDERR: stderr },
        },
      );
      expect(await exit).toEqual({ code: 1, signal: null });
    }
  });
});

/** Whether a process is running. A process that has ended is a zombie until its parent waits for it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
