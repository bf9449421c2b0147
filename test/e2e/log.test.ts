/**
 * A server whose standard output or standard error is not read, is closed, is slow or is full, and its log in a file. Some of
 * this is tried at night only.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { IS_WHOLE } from '../support/extent.ts';
import { freePort } from '../support/free-port.ts';
import {
  canMakeDevices,
  expectOneGap,
  type Flood,
  flood,
  fullDevice,
  type Line,
  LONG_LINES,
  linesOf,
  MANY,
  numbersOf,
  Pipe,
  READS,
  serve,
} from '../support/log-streams.ts';
import { withRequired } from '../support/pets.ts';
import { BIN, OPERATOR_KEY, runBin, runCommand, stopService, temporaryFolder } from '../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../support/small-disk.ts';
import { hasScript } from './terminal.ts';

const ENDED = { code: 0, signal: null };

/** A number of requests whose log lines fit neither into the pipe or the small disk nor into the buffer of the server. */
const MANY_READS = 2 * MANY;

const deviceNote = canMakeDevices ? '' : ' (skipped: this user may not make a device)';
const scriptNote = hasScript ? '' : ' (skipped: there is no script of util-linux)';

describe('a server', () => {
  test('whose log nobody reads counts the dropped lines, responds to every request, and stops on SIGTERM', {
    timeout: 240_000,
  }, async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    await flood(service.origin, MANY, LONG_LINES);
    await expect.poll(() => pipe.read()).toContain('"dropped"');
    await service.client.get('/v1/pets', { 'X-Request-Id': `flood-${MANY}` });
    await expect.poll(() => pipe.read()).toContain(`flood-${MANY}"`);
    const lines = linesOf(pipe.read());
    expect(lines[0]).toMatchObject({ msg: 'listening' });
    expectOneGap(lines, MANY + 1);

    await flood(service.origin, MANY / 4, LONG_LINES);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    expect(await stopService(service)).toEqual(ENDED);
  });

  test('keeps running when the readers of its standard output and of its log have gone', async () => {
    const { child, out, exit } = runBin(['serve'], {
      env: { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY },
    });
    child.stdout?.destroy();
    await expect.poll(() => out.stderr).toContain('"listening"');
    child.stderr?.destroy();
    const { url } = linesOf(out.stderr)[0] as { url?: string };
    for (let count = 0; count < 10; count++) expect((await fetch(`${url}/pets`)).status).toBe(401);
    child.kill('SIGTERM');
    expect(await exit).toEqual(ENDED);
  });

  test('is not blocked by a standard output that nobody reads', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stdout: pipe.path, stderr: log }, { API_KEYS: '' });
    expect((await service.client.get('/livez')).status).toBe(200);
    expect(await stopService(service)).toEqual(ENDED);
    expect(linesOf(readFileSync(log, 'utf8')).at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('logs every request of a key holder to a file, and limits the lines for requests without a key', async () => {
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stderr: log });
    const wrongKey: Flood = { ...READS, headers: 'Authorization: Bearer wrong\r\n', status: 401 };
    const startedAt = performance.now();
    await Promise.all([
      flood(service.origin, 500, { ...wrongKey, headers: '' }),
      flood(service.origin, 500, wrongKey),
      flood(service.origin, 500, { ...READS, target: '/livez' }),
      flood(service.origin, 500, READS),
    ]);
    expect(await stopService(service)).toEqual(ENDED);
    const seconds = Math.ceil((performance.now() - startedAt) / 1000) + 1;
    const lines = linesOf(readFileSync(log, 'utf8'));
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
    const isOfStranger = ({ msg, keyId }: Line) => msg === 'request' && keyId === undefined;
    const numbers = numbersOf(lines.filter((line) => !isOfStranger(line)));
    expect(numbers).toEqual(Array.from({ length: 500 }, (_, index) => index));
    const logged = lines.filter(isOfStranger);
    const summaries = lines.filter(({ suppressed }) => suppressed !== undefined);
    const suppressed = summaries.reduce((sum, line) => sum + (line['suppressed'] as number), 0);
    expect(logged.length).toBeGreaterThanOrEqual(100);
    expect(logged.length).toBeLessThanOrEqual(100 * seconds);
    expect(summaries.length).toBeLessThanOrEqual(seconds);
    // `serve` has sent one request to /livez.
    expect(logged.length + suppressed).toBe(1501);
  });

  test('that cannot start exits with status 1 even if its error cannot be written', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const env = { DATABASE_URL: 'memory:', HOST: '192.0.2.1' };
    const { exit } = runBin(['serve'], { env, stderr: pipe.path });
    expect(await exit).toEqual({ code: 1, signal: null });
  });
});

if (IS_WHOLE) {
  test.skipIf(!canMakeDevices)(
    `a server keeps running when its log and its standard output are full devices${deviceNote}`,
    async () => {
      const service = await serve({ stderr: fullDevice() });
      await flood(service.origin, MANY, LONG_LINES);
      expect((await service.client.post(withRequired({ name: 'Rex', categoryId: 1 }))).status).toBe(201);
      expect(await stopService(service)).toEqual(ENDED);

      const other = await serve({ stdout: fullDevice() }, { API_KEYS: '' });
      expect(other.out.stderr).toContain('animal-store: standard output cannot be written: ENOSPC');
      expect((await other.client.get('/livez')).status).toBe(200);
      expect(await stopService(other)).toEqual(ENDED);

      const env = { DATABASE_URL: 'memory:', HOST: '192.0.2.1' };
      expect(await runBin(['serve'], { env, stderr: fullDevice() }).exit).toEqual({ code: 1, signal: null });
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
}

/** Whether a process is running. A process that has ended is a zombie until its parent waits for it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
