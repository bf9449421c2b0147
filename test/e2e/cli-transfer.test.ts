import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { stopService } from '../support/process.ts';
import { type Ended, endOf, lines, listWith, until, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 120_000 };

describe('import and export', TIMEOUT, () => {
  test('an export of imported pets has the same bytes as the imported export', async () => {
    const work = new Workspace();
    writeFileSync(work.path('pets.ndjson'), lines(20_000, 'é🐈 \\"'));
    expect(await work.output('import', 'pets.ndjson')).toContain('Imported 20,000 pets');
    const exported = await work.output('export');
    expect(exported.split('\n')).toHaveLength(20_001);
    expect(exported).toContain(`"categoryId":${2n ** 62n + 19_999n}`);
    const elsewhere = ['--database-url', `sqlite:${work.path('b.db')}`];
    expect((await work.run(['import', '-', '--json', ...elsewhere], exported)).status).toBe(0);
    expect(await work.output('export', ...elsewhere)).toBe(exported);
  });

  test('an invalid line near the end leaves the store unchanged', async () => {
    const work = new Workspace();
    await work.run(['import', '-'], lines(10));
    const before = await work.output('export');
    const { status, out, err } = await work.run(
      ['import', '-'],
      `${lines(90_000)}{"name":"Rex"}\n${lines(10_000)}`,
    );
    expect([status, out]).toEqual([1, '']);
    expect(err).toBe(
      'animal-store: line 90001: categoryId is required (--skip-invalid leaves out invalid lines), nothing was imported\n',
    );
    expect(await work.output('export')).toBe(before);
  });

  test('--skip-invalid imports the other lines', async () => {
    const work = new Workspace();
    const { status, out, err } = await work.run(
      ['import', '--skip-invalid', '-'],
      `${lines(5)}oops\n${lines(5)}`,
    );
    expect([status, err]).toEqual([0, 'Skipped 1 line, see import.refused.ndjson\n']);
    expect(out).toContain('Imported 10 pets');
    expect(JSON.parse(readFileSync(work.path('import.refused.ndjson'), 'utf8'))).toMatchObject({
      line: 6,
      text: 'oops',
    });
    expect(readdirSync(work.folder).toSorted()).toEqual(['import.refused.ndjson', 'pets.db']);
  });

  test('a server with a cached response lists the pets that another process has imported', async () => {
    const work = new Workspace();
    const key = await work.createKey();
    const server = await work.serve();
    for (const count of [10, 20]) {
      const before = await listWith(server, key);
      const kept = await listWith(server, key);
      expect(await kept.text()).toBe(await before.text());
      await work.run(['import', '--new-ids', '-'], lines(10));
      const after = await listWith(server, key);
      expect(JSON.parse(await after.text())).toHaveLength(count);
      expect(after.headers.get('ETag')).not.toBe(kept.headers.get('ETag'));
    }
    await stopService(server);
  });

  test('an export whose reader stops early prints no error', async () => {
    const work = new Workspace();
    await work.run(['import', '-'], lines(50_000));
    const running = work.start(['export']);
    const { child } = running;
    await once(child.stdout ?? child, 'data');
    child.stdout?.destroy();
    expect(await endOf(running)).toMatchObject({ status: 0, err: '' });
  });
});

function partialsIn({ folder }: Workspace): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.partial'));
}

describe('an import that is interrupted', TIMEOUT, () => {
  const REFUSED = 'many.ndjson.refused.ndjson';
  const few = lines(10);
  const many = 'oops\n'.repeat(2000) + lines(200_000, 'x'.repeat(200));

  /** Returns a function that waits until the import reads lines, because it writes refused lines at that time. */
  const isReading = (work: Workspace) => () => until(() => partialsIn(work).length > 0);

  /** Returns a function that waits until the import has written pages to the write-ahead log, before their commit. */
  const isStoring = (work: Workspace) => async () => {
    await until(() => (statSync(`${work.store}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 100_000);
  };

  /** Interrupts an import and checks the store. Starts again if the import ended before the signal arrived. */
  async function endedBy(
    signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL',
    when: (work: Workspace) => () => Promise<void>,
  ): Promise<{ end: Ended; left: string[] }> {
    const work = new Workspace();
    await work.run(['import', '-'], few);
    const before = await work.output('export');
    const key = await work.createKey();
    writeFileSync(work.path('many.ndjson'), many);
    writeFileSync(work.path(REFUSED), 'earlier');
    const running = work.start(['import', '--skip-invalid', 'many.ndjson']);
    await when(work)();
    running.child.kill(signal);
    const end = await endOf(running);
    if (end.status === 0) return endedBy(signal, when);
    if (signal !== 'SIGKILL') expect(readFileSync(work.path(REFUSED), 'utf8')).toBe('earlier');
    expect(await work.output('export')).toBe(before);
    const server = await work.serve();
    const answer = await listWith(server, key);
    expect(await answer.json()).toHaveLength(10);
    await stopService(server);
    return { end, left: readdirSync(work.folder).toSorted() };
  }

  test.each([
    ['SIGKILL', 'read', isReading],
    ['SIGKILL', 'stored', isStoring],
    ['SIGINT', 'read', isReading],
    ['SIGTERM', 'read', isReading],
    ['SIGINT', 'stored', isStoring],
    ['SIGTERM', 'stored', isStoring],
  ] as const)('by %s while lines are %s leaves the store unchanged', async (signal, _, when) => {
    const { end, left } = await endedBy(signal, when);
    if (signal === 'SIGKILL') {
      expect(end.status).toBeNull();
      expect(left.filter((name) => !/\.(partial|earlier)$/.test(name))).toEqual([
        'many.ndjson',
        REFUSED,
        'pets.db',
      ]);
    } else {
      const err = expect.stringMatching(
        /^(Reading: .*\n|Storing: .*\n)*animal-store: interrupted, nothing was imported\n$/,
      );
      expect(end).toEqual({ status: 1, out: '', err });
      expect(left).toEqual(['many.ndjson', REFUSED, 'pets.db']);
    }
  });

  test('by SIGINT before another process writes to its FIFO leaves no temporary file', async () => {
    const work = new Workspace();
    spawnSync('mknod', [work.path('fifo'), 'p']);
    const running = work.start(['import', '--skip-invalid', 'fifo']);
    await until(() => readdirSync(work.folder).includes('pets.db'));
    running.child.kill('SIGINT');
    expect(await endOf(running)).toMatchObject({
      status: 1,
      err: 'animal-store: interrupted, nothing was imported\n',
    });
    expect(readdirSync(work.folder).toSorted()).toEqual(['fifo', 'pets.db']);
  });
});

test('an import reads a FIFO to its end', TIMEOUT, async () => {
  const work = new Workspace();
  spawnSync('mknod', [work.path('fifo'), 'p']);
  const running = work.start(['import', 'fifo']);
  await until(() => readdirSync(work.folder).includes('pets.db'));
  await writeFile(work.path('fifo'), lines(20_000));
  expect((await endOf(running)).out).toContain('Imported 20,000 pets');
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'an export whose reader stalls is interrupted by %s',
  TIMEOUT,
  async (signal) => {
    const work = new Workspace();
    await work.run(['import', '-'], lines(50_000));
    const running = work.start(['export']);
    await once(running.child.stdout ?? running.child, 'data');
    running.child.stdout?.pause();
    await until(() => isBlocked(running.child.stdout));
    running.child.kill(signal);
    const [status] = await once(running.child, 'exit');
    expect([status, running.out.stderr]).toEqual([
      1,
      'animal-store: interrupted, the export is not complete\n',
    ]);
  },
);

/** Whether the buffer of the stream is full, so that the writer has to wait. */
function isBlocked(stream: Readable | null): boolean {
  return stream !== null && stream.readableLength >= stream.readableHighWaterMark;
}
