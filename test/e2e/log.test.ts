/** A server whose standard output or standard error is not read, is closed or is full, and its log in a file. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type Line, linesOf, Pipe } from '../support/log-streams.ts';
import {
  atEnd,
  OPERATOR_KEY,
  type RunOptions,
  runBin,
  type Service,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../support/small-disk.ts';

const ENDED = { code: 0, signal: null };

/** A number of requests whose lines do not fit into the pipe and the buffer of the server. */
const MANY = 3000;

/** Sends `count` requests whose lines are long, with request ids from `flood-0`. */
async function flood(origin: string, count: number): Promise<void> {
  const client = new Client(origin, OPERATOR_KEY, (answer) => answer);
  const traceparent = `00-${'0af7651916cd43dd'.repeat(2)}-b7ad6b7169203331-01`;
  for (let sent = 0; sent < count; ) {
    const batch = Array.from({ length: Math.min(50, count - sent) }, () =>
      client.get(`/v1/${'x'.repeat(300)}`, { traceparent, 'X-Request-Id': `flood-${sent++}` }),
    );
    for (const answer of await Promise.all(batch)) expect(answer.status).toBe(404);
  }
  client.close();
}

/** Runs `serve` on a free port. Resolves when the server responds. */
async function serve(
  streams: Pick<RunOptions, 'stdout' | 'stderr'>,
  env: Record<string, string> = {},
): Promise<Service> {
  const port = await freePort();
  const settings = { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY, PORT: String(port), ...env };
  const running = runBin(['serve'], { ...streams, env: settings });
  const client = new Client(`http://127.0.0.1:${port}`, OPERATOR_KEY);
  atEnd(() => client.close());
  await expect.poll(() => client.get('/livez').then(({ status }) => status, String)).toBe(200);
  return { ...running, origin: client.origin, client };
}

/** The numbers of the requests of a flood that were logged, in ascending order. */
function numbersOf(lines: readonly Line[]): number[] {
  return lines
    .map(({ requestId }) => Number(/^flood-(\d+)$/.exec(String(requestId))?.[1]))
    .filter(Number.isInteger)
    .sort((one, other) => one - other);
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

describe('a server', () => {
  test('whose log nobody reads counts the dropped lines, responds to every request, and stops on SIGTERM', {
    timeout: 240_000,
  }, async () => {
    const pipe = new Pipe();
    const service = await serve({ stderr: pipe.path });
    await flood(service.origin, MANY);
    await expect.poll(() => pipe.read()).toContain('"dropped"');
    await service.client.get('/v1/pets', { 'X-Request-Id': `flood-${MANY}` });
    await expect.poll(() => pipe.read()).toContain(`flood-${MANY}"`);
    const lines = linesOf(pipe.read());
    expect(lines[0]).toMatchObject({ msg: 'listening' });
    expectOneGap(lines, MANY + 1);

    await flood(service.origin, MANY / 4);
    expect((await service.client.get('/v1/pets')).status).toBe(200);
    expect(await stopService(service)).toEqual(ENDED);
  });

  test('keeps running when the readers of its standard output and of its log have gone', async () => {
    // With a key of its own, the server prints no warning that the first key is lost.
    const env = { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY };
    const { child, out, exit } = runBin(['serve'], { env });
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
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(lines).toContainEqual(expect.stringContaining('; the first key is lost, create another: '));
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ msg: 'stopped' });
  });

  test('that cannot start exits with status 1 even if its error cannot be written', async () => {
    const pipe = new Pipe();
    pipe.fill();
    const env = { DATABASE_URL: 'memory:', HOST: '192.0.2.1' };
    expect(await runBin(['serve'], { env, stderr: pipe.path }).exit).toEqual({ code: 1, signal: null });
  });
});

test.skipIf(!canMount)(
  `a server keeps running when the disk of its log is full, and logs again when there is room${mountNote}`,
  async () => {
    const disk = new SmallDisk('256k');
    const log = join(disk.folder, 'log');
    const service = await serve({ stderr: log });
    await flood(service.origin, 1.5 * MANY);
    disk.resize('16m');
    await expect.poll(() => readFileSync(log, 'utf8')).toContain('"dropped"');
    await service.client.get('/v1/pets', { 'X-Request-Id': `flood-${1.5 * MANY}` });
    expect(await stopService(service)).toEqual(ENDED);
    expectOneGap(linesOf(readFileSync(log, 'utf8')), 1.5 * MANY + 1);
  },
);
