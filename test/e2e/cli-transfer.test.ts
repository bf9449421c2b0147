import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { Bench } from './cli-process.ts';

const TIMEOUT = { timeout: 120_000 };
const WRITERS = 8;

function lines(count: number, name = 'animal'): string {
  return Array.from(
    { length: count },
    (_, index) => `{"name":"${name} ${index}","categoryId":${2n ** 62n + BigInt(index)},"status":"sold"}\n`,
  ).join('');
}

/** Clients that create one animal after the other, as fast as they are answered. */
function createUnderLoad(url: string, key: string) {
  const acknowledged: number[] = [];
  const refused: string[] = [];
  let goesOn = true;
  const write = async () => {
    while (goesOn) {
      const answer = await fetch(`${url}/pets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: '{"name":"Rex","categoryId":1}',
      });
      const body = await answer.text();
      if (answer.status === 201) acknowledged.push(JSON.parse(body).id);
      else refused.push(`${answer.status} ${body}`);
    }
  };
  const writing = Array.from({ length: WRITERS }, write);
  const stop = async () => {
    goesOn = false;
    await Promise.all(writing);
  };
  return { acknowledged, refused, stop };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

describe('import and export', TIMEOUT, () => {
  test('a store that went through a file or a pipe gives the same bytes again', async () => {
    const bench = new Bench();
    writeFileSync(bench.path('pets.ndjson'), lines(20_000, 'é🐈 \\"'));
    expect(await bench.output('import', 'pets.ndjson')).toContain('Imported 20,000 animals');
    const exported = await bench.output('export');
    expect(exported.split('\n')).toHaveLength(20_001);
    expect(exported).toContain(`"categoryId":${2n ** 62n + 19_999n}`);
    const elsewhere = ['--database-url', `sqlite:${bench.path('b.db')}`];
    expect((await bench.run(['import', '-', '--json', ...elsewhere], exported)).status).toBe(0);
    expect(await bench.output('export', ...elsewhere)).toBe(exported);
  });

  test('a bad line far down leaves the store as it was', async () => {
    const bench = new Bench();
    await bench.run(['import', '-'], lines(10));
    const before = await bench.output('export');
    const { status, out, err } = await bench.run(
      ['import', '-'],
      `${lines(90_000)}{"name":"Rex"}\n${lines(10_000)}`,
    );
    expect([status, out]).toEqual([1, '']);
    expect(err).toBe('animal-store: line 90001: categoryId is required, nothing was imported\n');
    expect(await bench.output('export')).toBe(before);
  });

  test('--skip-invalid goes on', async () => {
    const bench = new Bench();
    const { status, out, err } = await bench.run(
      ['import', '--skip-invalid', '-'],
      `${lines(5)}oops\n${lines(5)}`,
    );
    expect([status, err]).toEqual([0, 'Left out 1 line, see import.refused.ndjson\n']);
    expect(out).toContain('Imported 10 animals');
    expect(JSON.parse(readFileSync(bench.path('import.refused.ndjson'), 'utf8'))).toMatchObject({
      line: 6,
      text: 'oops',
    });
    expect(readdirSync(bench.folder).toSorted()).toEqual(['import.refused.ndjson', 'pets.db']);
  });

  test('an export that nobody reads to the end is quiet', async () => {
    const bench = new Bench();
    await bench.run(['import', '-'], lines(50_000));
    const { child, ended } = bench.start(['export']);
    await once(child.stdout ?? child, 'data');
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ status: 0, err: '' });
  });
});

describe('an import that is ended', TIMEOUT, () => {
  const few = lines(10);
  const many = lines(200_000, 'x'.repeat(200));
  const isReading = async () => delay(400);

  /** Pages of the import go to the write-ahead log before they are committed. */
  const isStoring = (bench: Bench) => async () => {
    await until(() => (statSync(`${bench.store}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 100_000);
  };

  async function endedBy(
    signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL',
    when: (bench: Bench) => () => Promise<void>,
  ) {
    const bench = new Bench();
    await bench.run(['import', '-'], few);
    const before = await bench.output('export');
    const key = await bench.createKey();
    writeFileSync(bench.path('many.ndjson'), many);
    const { child, ended } = bench.start(['import', '--skip-invalid', 'many.ndjson']);
    await when(bench)();
    child.kill(signal);
    const end = await ended;
    expect(await bench.output('export')).toBe(before);
    const server = await bench.serve();
    const answer = await fetch(`${server.url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await answer.json()).toHaveLength(10);
    await server.stop();
    return { end, left: readdirSync(bench.folder).toSorted() };
  }

  test.each([
    ['SIGKILL', 'read', () => isReading],
    ['SIGKILL', 'stored', isStoring],
    ['SIGINT', 'read', () => isReading],
    ['SIGTERM', 'stored', isStoring],
  ] as const)('by %s while lines are %s leaves the store as it was', async (signal, _, when) => {
    const { end, left } = await endedBy(signal, when);
    if (signal === 'SIGKILL') {
      expect(end.status).toBeNull();
    } else {
      expect(end).toEqual({ status: 1, out: '', err: 'animal-store: interrupted, nothing was imported\n' });
    }
    expect(left).toEqual(['many.ndjson', 'pets.db']);
  });
});

describe('beside a server under load', TIMEOUT, () => {
  async function underLoad() {
    const bench = new Bench();
    await bench.run(['import', '-'], lines(60_000));
    const key = await bench.createKey();
    const { url } = await bench.serve({ LOG_LEVEL: 'error' });
    const load = createUnderLoad(url, key);
    await until(() => load.acknowledged.length > 50);
    return { bench, ...load };
  }

  test('every export is of one moment, and no request fails', async () => {
    const { bench, acknowledged, refused, stop } = await underLoad();
    for (let times = 0; times < 3; times++) {
      const known = Math.max(...acknowledged);
      const ids = (await bench.output('export')).match(/(?<="id":)\d+/g)?.map(Number) ?? [];
      expect(ids.length).toBeGreaterThanOrEqual(known);
      expect(ids.every((id, index) => id === index + 1)).toBe(true);
    }
    await stop();
    expect(refused).toEqual([]);
  });

  test('every backup is sound and has what was acknowledged before, and no request fails', async () => {
    const { bench, acknowledged, refused, stop } = await underLoad();
    for (const name of ['first.db', 'second.db']) {
      const known = new Set(acknowledged);
      expect(await bench.output('backup', name)).toMatch(/^Backed up to /);
      const copy = new Database(bench.path(name), { readonly: true });
      expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
      const stored = new Set(copy.prepare('SELECT id FROM pets').pluck().all());
      copy.close();
      expect([...known].filter((id) => !stored.has(id))).toEqual([]);
    }
    await stop();
    expect(refused).toEqual([]);
    expect(readdirSync(bench.folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('an import makes creates wait, and mixes with none', async () => {
    const { bench, acknowledged, refused, stop } = await underLoad();
    const { status, err } = await bench.run(['import', '-'], lines(60_000, 'imported'));
    expect([status, err]).toEqual([0, '']);
    await stop();
    expect(refused.filter((answer) => !answer.includes('"storage_unavailable"'))).toEqual([]);
    const exported = (await bench.output('export'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exported).toHaveLength(120_000 + acknowledged.length);
    const imported = exported.filter(({ name }) => name.startsWith('imported'));
    expect(imported).toHaveLength(60_000);
    expect(imported.at(-1).id - imported[0].id).toBe(59_999);
  });
});

describe('backup', TIMEOUT, () => {
  test('never goes over a file without --force', async () => {
    const bench = new Bench();
    const key = await bench.createKey();
    writeFileSync(bench.path('copy.db'), 'precious');
    expect(await bench.run(['backup', 'copy.db'])).toMatchObject({
      status: 2,
      err: 'animal-store: copy.db exists already: --force replaces it\n',
    });
    expect(readFileSync(bench.path('copy.db'), 'utf8')).toBe('precious');
    expect(await bench.output('backup', '--force', 'copy.db')).toMatch(/^Backed up to copy\.db: /);
    const server = await bench.serve({ DATABASE_URL: 'sqlite:copy.db' });
    const answer = await fetch(`${server.url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
  });

  test('is refused on top of the store', async () => {
    const bench = new Bench();
    await bench.createKey();
    const { status, err } = await bench.run(['backup', '--force', './pets.db']);
    expect([status, err]).toEqual([2, 'animal-store: ./pets.db is the store itself\n']);
    expect(await bench.output('keys', 'list')).toContain('test');
  });

  test('that is killed leaves no file of that name', async () => {
    const bench = new Bench();
    await bench.run(['import', '-'], lines(200_000, 'x'.repeat(200)));
    const { child, ended } = bench.start(['backup', 'copy.db']);
    await until(() => readdirSync(bench.folder).some((name) => name.endsWith('.partial')));
    child.kill('SIGKILL');
    expect((await ended).status).toBeNull();
    expect(existsSync(bench.path('copy.db'))).toBe(false);
  });
});
