/** What becomes of a server whose log nobody reads, or has no room. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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

/** More than pipes and the server's buffer hold. */
const MANY = 12_000;

const noDevices = canMakeDevices ? '' : ' (skipped: this user may not make a device)';
const noMount = canMount ? '' : ' (skipped: this user may not mount a file system)';
const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

function numbersOf(lines: readonly Line[]): number[] {
  return lines
    .map(({ requestId }) => Number(/^flood-(\d+)$/.exec(String(requestId))?.[1]))
    .filter(Number.isInteger);
}

/** What was logged and what was dropped are all requests, and the gap is in one place. */
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

describe('a server whose log is a pipe that nobody reads', { timeout: 60_000 }, () => {
  test('responds to every request, and stops on SIGTERM', async () => {
    const service = await serve({ stderr: new Pipe().path });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    await expectStopInTime(service);
  });

  test('does so when its log is a socket', async () => {
    const service = await serve({});
    service.child.stderr?.pause();
    await flood(service.origin, MANY, 200, AUTHORIZED);
    service.child.kill('SIGTERM');
    await expect.poll(() => service.child.exitCode, { timeout: 5000 }).toBe(0);
  });

  test('writes what it has buffered, and how many lines it has dropped, once somebody reads', async () => {
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

  test('writes all of its buffer to a reader who comes while it stops', async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    service.child.kill('SIGTERM');
    await expect.poll(() => pipe.read() && service.child.exitCode, { interval: 5, timeout: 5000 }).toBe(0);
    const lines = linesOf(pipe.read());
    const dropped = lines.find((line) => line['dropped'] !== undefined)?.['dropped'] as number;
    expect(numbersOf(lines).length + dropped).toBeGreaterThanOrEqual(MANY);
  });

  test('loses no line to a reader who is slow', async () => {
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
  test('goes on when the reader of its log has gone', async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    pipe.close();
    await flood(service.origin, MANY, 200, AUTHORIZED);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    await expectStopInTime(service);
  });

  test.skipIf(!canMakeDevices)(`goes on when its log is a device that is full${noDevices}`, async () => {
    const service = await serve({ stderr: fullDevice() });
    await flood(service.origin, MANY, 200, AUTHORIZED);
    expect((await service.client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    await expectStopInTime(service);
  });

  test.skipIf(!canMount)(
    `goes on when the disk of its log is full, and logs again when it is not${noMount}`,
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

  test('goes on when its terminal is stopped', { skip: !hasScript }, async () => {
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

  test('is not stopped by a standard output that nobody reads', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stdout: pipe.path, stderr: log }, { API_KEYS: '' });
    expect((await service.client.get('/livez')).status).toBe(200);
    await expectStopInTime(service);
    expect(linesOf(readFileSync(log, 'utf8')).at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('is not stopped by a standard output whose reader has gone', async () => {
    const { child, out } = runBin(['serve'], { env: { DATABASE_URL: 'memory:' } });
    child.stdout?.destroy();
    await expect.poll(() => out.stderr, { timeout: 10_000 }).toContain('"listening"');
    const { url } = linesOf(out.stderr)[0] as { url?: string };
    expect((await fetch(`${new URL(url ?? '').origin}/livez`)).status).toBe(200);
    child.kill('SIGTERM');
    await expect.poll(() => child.exitCode, { timeout: 10_000 }).toBe(0);
  });

  test.skipIf(!canMakeDevices)(`says so when standard output is full, and goes on${noDevices}`, async () => {
    const service = await serve({ stdout: fullDevice() }, { API_KEYS: '' });
    expect(service.out.stderr).toContain('animal-store: standard output cannot be written: ENOSPC');
    expect((await service.client.get('/livez')).status).toBe(200);
    await expectStopInTime(service);
  });

  test('that cannot start ends with 1 although nobody learns why', async () => {
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

describe('any other command', { timeout: 60_000 }, () => {
  test.skipIf(!canMakeDevices)(`fails when its output is full${noDevices}`, async () => {
    const cwd = temporaryFolder();
    const env = { DATABASE_URL: 'sqlite:pets.db', STDOUT: fullDevice() };
    expect(
      await runBin(['import', '-'], { cwd, env, input: '{"name":"Rex","categoryId":1}\n' }).exit,
    ).toEqual(ENDED);
    for (const command of ['export', 'openapi', '--help']) {
      const { exit, out } = runCommand(
        'sh',
        ['-c', 'exec "$0" "$@" >"$STDOUT"', process.execPath, BIN, command],
        { cwd, env },
      );
      expect(await exit).toEqual({ code: 1, signal: null });
      expect(out.stderr).toMatch(/^animal-store: .*ENOSPC.*\n$/);
    }
  });

  test('waits for a slow reader of its output', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const { exit } = runCommand('sh', ['-c', 'exec "$0" "$@" >"$STDOUT"', process.execPath, BIN, 'openapi'], {
      env: { STDOUT: pipe.path },
    });
    await expect(Promise.race([exit, delay(2000, 'waits')])).resolves.toBe('waits');
    await expect.poll(() => pipe.read()).toMatch(/}\n$/);
    expect(await exit).toEqual(ENDED);
  });
});

describe('a flood of requests without a key holder', { timeout: 60_000 }, () => {
  test('is bounded in the log, and hides neither good requests nor its own number', async () => {
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stderr: log });
    const startedAt = performance.now();
    const [, , good] = await Promise.all([
      flood(service.origin, 10_000, 401, ''),
      flood(service.origin, 10_000, 401, 'Authorization: Bearer wrong\r\n'),
      service.client.get('/v1/pets', { 'X-Request-Id': 'good' }),
    ]);
    expect(good.status).toBe(200);
    await stopService(service);
    const seconds = Math.ceil((performance.now() - startedAt) / 1000) + 1;
    const lines = linesOf(readFileSync(log, 'utf8'));
    const failed = lines.filter(({ status }) => status === 401);
    const summaries = lines.filter(({ suppressed }) => suppressed !== undefined);
    const suppressed = summaries.reduce((sum, line) => sum + (line['suppressed'] as number), 0);
    expect(failed.length).toBeGreaterThanOrEqual(100);
    expect(failed.length).toBeLessThanOrEqual(100 * seconds);
    expect(summaries.length).toBeLessThanOrEqual(seconds);
    expect(summaries[0]).toMatchObject({
      level: 40,
      msg: 'failed requests without a key holder were not logged',
    });
    expect(failed.length + suppressed).toBe(20_000);
    expect(lines.filter(({ requestId }) => requestId === 'good')).toHaveLength(1);
  });
});

describe('a disk that is full', { timeout: 60_000 }, () => {
  test.skipIf(!canMount)(
    `is one stack trace a second in the log, not one for each create${noMount}`,
    async () => {
      const { folder } = new SmallDisk('1m');
      const log = join(temporaryFolder(), 'log');
      const service = await serve({ stderr: log }, { DATABASE_URL: `sqlite:${folder}/pets.db` });
      const pet = { name: 'x'.repeat(255), categoryId: 1 };
      while ((await service.client.post(pet)).status === 201);
      const startedAt = performance.now();
      let refused = 0;
      for (let count = 0; count < 20; count += 1) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => service.client.post(pet)));
        refused += answers.filter(({ status }) => status === 503).length;
      }
      await stopService(service);
      const seconds = Math.ceil((performance.now() - startedAt) / 1000) + 1;
      expect(refused).toBeGreaterThan(500);
      const lines = linesOf(readFileSync(log, 'utf8'));
      const traces = lines.filter(({ err }) => err !== undefined);
      const suppressed = lines.reduce((sum, line) => sum + Number(line['suppressed'] ?? 0), 0);
      const kinds = new Set(lines.map(({ kind }) => kind).filter((kind) => kind !== undefined));
      expect(traces.length).toBeLessThanOrEqual(seconds * Math.max(1, kinds.size));
      expect(traces[0]).toMatchObject({ level: 50, msg: 'request failed', requestId: expect.any(String) });
      expect(lines.filter(({ status }) => status === 503)).toHaveLength(traces.length + suppressed);
    },
  );
});

/** A process that has ended is a zombie until its parent looks at it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
