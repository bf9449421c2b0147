import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { endOf, lines, listWith, until, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 120_000 };
const WRITERS = 8;

/** Starts clients that create pets. Each client sends the next request when it has received the last response. */
function createUnderLoad(origin: string, key: string) {
  const acknowledged: number[] = [];
  const refused: string[] = [];
  let goesOn = true;
  const write = async () => {
    while (goesOn) {
      const response = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: '{"name":"Rex","categoryId":1}',
      });
      const body = await response.text();
      if (response.status === 201) acknowledged.push(JSON.parse(body).id);
      else refused.push(`${response.status} ${body}`);
    }
  };
  const writing = Array.from({ length: WRITERS }, write);
  const stop = async () => {
    goesOn = false;
    await Promise.all(writing);
  };
  return { acknowledged, refused, stop };
}

describe('while a server is under load', TIMEOUT, () => {
  async function underLoad() {
    const work = new Workspace();
    await work.run(['import', '-'], lines(60_000));
    const key = await work.createKey();
    const { origin } = await work.serve({ LOG_LEVEL: 'error' });
    const load = createUnderLoad(origin, key);
    await until(() => load.acknowledged.length > 50);
    return { work, ...load };
  }

  test('every export is a snapshot, and no request fails', async () => {
    const { work, acknowledged, refused, stop } = await underLoad();
    for (let times = 0; times < 3; times++) {
      const known = Math.max(...acknowledged);
      const ids = (await work.output('export')).match(/(?<="id":)\d+/g)?.map(Number) ?? [];
      expect(ids.length).toBeGreaterThanOrEqual(known);
      expect(ids.every((id, index) => id === index + 1)).toBe(true);
    }
    await stop();
    expect(refused).toEqual([]);
  });

  test('an export whose reader stalls does not make the write-ahead log grow, and is still a snapshot', async () => {
    const { work, acknowledged, refused, stop } = await underLoad();
    const running = work.start(['export']);
    const { child, out } = running;
    await until(() => out.stdout !== '');
    child.stdout?.pause();
    const before = acknowledged.length;
    const logSizes: number[] = [];
    await until(() => {
      logSizes.push(statSync(`${work.store}-wal`).size);
      return acknowledged.length > before + 8000;
    });
    await stop();
    expect(refused).toEqual([]);
    expect(Math.max(...logSizes)).toBeLessThan(8 * 1024 * 1024);
    expect(child.exitCode).toBeNull();
    child.stdout?.resume();
    expect(await endOf(running)).toMatchObject({ status: 0 });
    const ids = out.stdout.match(/(?<="id":)\d+/g)?.map(Number) ?? [];
    expect(ids.every((id, index) => id === index + 1)).toBe(true);
    expect(ids.length).toBeGreaterThanOrEqual(60_000);
    expect(ids.length).toBeLessThan(60_000 + acknowledged.length);
  });

  test('every backup is intact and contains all acknowledged pets, and no request fails', async () => {
    const { work, acknowledged, refused, stop } = await underLoad();
    for (const name of ['first.db', 'second.db']) {
      const known = new Set(acknowledged);
      expect(await work.output('backup', name)).toMatch(/^Backed up to /);
      const copy = new Database(work.path(name), { readonly: true });
      expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
      const stored = new Set(copy.prepare('SELECT id FROM pets').pluck().all());
      copy.close();
      expect([...known].filter((id) => !stored.has(id))).toEqual([]);
    }
    await stop();
    expect(refused).toEqual([]);
    expect(readdirSync(work.folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('an import delays creates, and the ids of its pets have no gap', async () => {
    const { work, acknowledged, refused, stop } = await underLoad();
    const { status, err } = await work.run(['import', '-'], lines(60_000, 'imported'));
    expect([status, err]).toEqual([0, '']);
    await stop();
    expect(refused.filter((answer) => !answer.includes('"storage_unavailable"'))).toEqual([]);
    const exported = (await work.output('export'))
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
  test('never replaces a file without --force', async () => {
    const work = new Workspace();
    const key = await work.createKey();
    writeFileSync(work.path('copy.db'), 'precious');
    expect(await work.run(['backup', 'copy.db'])).toMatchObject({
      status: 2,
      err: 'animal-store: copy.db exists already: --force replaces it\n',
    });
    expect(readFileSync(work.path('copy.db'), 'utf8')).toBe('precious');
    expect(await work.output('backup', '--force', 'copy.db')).toMatch(/^Backed up to copy\.db: /);
    const server = await work.serve({ DATABASE_URL: 'sqlite:copy.db' });
    const response = await listWith(server, key);
    expect(response.status).toBe(200);
  });

  test('is refused if its target is a file of the store', async () => {
    const work = new Workspace();
    await work.createKey();
    const { status, err } = await work.run(['backup', '--force', './pets.db']);
    expect([status, err]).toEqual([2, 'animal-store: ./pets.db belongs to the store\n']);
    expect(await work.output('keys', 'list')).toContain('test');
  });

  test('that is killed leaves no file at its target', async () => {
    const work = new Workspace();
    await work.run(['import', '-'], lines(200_000, 'x'.repeat(200)));
    const killed = async (): Promise<number | null> => {
      const running = work.start(['backup', '--force', 'copy.db']);
      await until(() => readdirSync(work.folder).some((name) => name.endsWith('.partial')));
      running.child.kill('SIGKILL');
      return (await endOf(running)).status;
    };
    /** The backup is repeated if it ended before the signal arrived. */
    while ((await killed()) === 0) rmSync(work.path('copy.db'));
    expect(existsSync(work.path('copy.db'))).toBe(false);
  });
});
