/** Tests a server whose standard output or standard error is not read or is closed, and its log in a file. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  expectOneGap,
  type Flood,
  flood,
  type Line,
  LONG_LINES,
  linesOf,
  MANY,
  numbersOf,
  Pipe,
  READS,
  serve,
} from '../support/log-streams.ts';
import { BIN, runBin, runCommand, stopService, temporaryFolder } from '../support/process.ts';

const ENDED = { code: 0, signal: null };

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
    const { child, out, exit } = runBin(['serve'], { env: { DATABASE_URL: 'memory:' } });
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
    const { exit } = runCommand('sh', ['-c', 'exec "$0" "$@" 2>"$STDERR"', process.execPath, BIN, 'serve'], {
      env: { DATABASE_URL: 'memory:', HOST: '192.0.2.1', STDERR: pipe.path },
    });
    expect(await exit).toEqual({ code: 1, signal: null });
  });
});
