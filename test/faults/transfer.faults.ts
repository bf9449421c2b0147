/** Imports, exports and backups of many pets: interrupted, under load, and of compressed data that is hostile. */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { type Ended, endOf, lines, listWith, Workspace } from '../e2e/workspace.ts';
import { until } from '../support/clock.ts';
import { BIN, type RunningProcess, stopService } from '../support/process.ts';
import { ClientGroup, createOf } from './client/clients.ts';
import { printTable } from './table.ts';

const PETS = 60_000;
const CLIENTS = 8;
const TIMEOUT = { timeout: 120_000 };

/** The peak of the memory of an import of one line of a gigabyte, in MiB. */
const MAX_MEMORY = 250;

function partialsIn({ folder }: Workspace): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.partial'));
}

describe('an import that is interrupted', TIMEOUT, () => {
  const many = 'oops\n'.repeat(2000) + lines(200_000, 'x'.repeat(200));

  /** Returns a function that waits until the import reads lines, because it writes refused lines at that time. */
  const isReading = (_: Workspace, running: RunningProcess) => () => until(() => running.out.stdout !== '');

  /** Returns a function that waits until the import has written pages to the write-ahead log, before their commit. */
  const isStoring = (work: Workspace) => async () => {
    await until(() => (statSync(`${work.store}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 100_000);
  };

  /** Interrupts an import and checks the store. Starts again if the import ended before the signal arrived. */
  async function endedBy(
    signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL',
    when: (work: Workspace, running: RunningProcess) => () => Promise<void>,
  ): Promise<{ end: Ended; left: string[] }> {
    const work = new Workspace();
    await work.outputHere(['import', '--create-store', '-'], lines(10));
    const before = await work.outputHere(['export']);
    const key = await work.createKey();
    writeFileSync(work.path('many.ndjson'), many);
    const running = work.start(['import', '--skip-invalid', 'many.ndjson']);
    await when(work, running)();
    running.child.kill(signal);
    const end = await endOf(running);
    if (end.status === 0) return endedBy(signal, when);
    expect(await work.outputHere(['export'])).toBe(before);
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
      expect(left).toEqual(['many.ndjson', 'pets.db']);
    } else {
      const err = expect.stringMatching(
        /^(line \d+: .*\n)+([^\n]*(Reading|Storing) .*\n)*animal-store: interrupted; nothing was imported\n$/,
      );
      expect(end).toMatchObject({ status: 1, err });
      expect(left).toEqual(['many.ndjson', 'pets.db']);
    }
  });
});

test('a backup that is killed leaves no file at its target', TIMEOUT, async () => {
  const work = new Workspace();
  await work.outputHere(['import', '--create-store', '-'], lines(200_000, 'x'.repeat(200)));
  const killed = async (): Promise<number | null> => {
    const running = work.start(['backup', '--force', 'copy.db']);
    await until(() => partialsIn(work).length > 0);
    running.child.kill('SIGKILL');
    return (await endOf(running)).status;
  };
  // A backup that ended before the signal arrived is repeated.
  while ((await killed()) === 0) rmSync(work.path('copy.db'));
  expect(existsSync(work.path('copy.db'))).toBe(false);
});

test('an import does not grow in memory with a line of a gigabyte, which it refuses', TIMEOUT, () => {
  const work = new Workspace();
  const printMemory = 'process.on("exit", () => console.error(process.resourceUsage().maxRSS));';
  const script = `head -c 1073741824 /dev/zero | "$NODE" --import "$PRINT" "$BIN" import --create-store --skip-invalid - | wc -c`;
  const PRINT = `data:text/javascript,${encodeURIComponent(printMemory)}`;
  const env = { DATABASE_URL: `sqlite:${work.store}`, NODE: process.execPath, BIN, PRINT };
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
  expect(stderr).toContain('line 1: longer than 16 KiB\n');
  expect(stdout.trim()).toBe('1073741824');
  const memory = Number(stderr.trimEnd().split('\n').at(-1)) / 1024;
  printTable('An import of one line of 1 GiB', [['memory MiB'], [Math.round(memory)]]);
  expect(memory).toBeLessThan(MAX_MEMORY);
  expect(memory).toBeGreaterThan(0);
});

describe(`while ${CLIENTS} clients create pets in a store with ${PETS} pets`, TIMEOUT, () => {
  async function underLoad() {
    const work = new Workspace();
    await work.outputHere(['import', '--create-store', '-'], lines(PETS));
    const key = await work.createKey();
    const { origin } = await work.serve({ LOG_LEVEL: 'error' });
    const load = new ClientGroup({ origin, key, clients: CLIENTS, next: () => createOf('Rex') });
    const { pets, failures } = load.outcomes;
    await until(() => pets.length > 50);
    return { work, pets, failures, stop: () => load.stop() };
  }

  const idOf = (pet: string): number => JSON.parse(pet).id;

  test('every export is a snapshot, every backup contains all acknowledged pets, and no request fails', async () => {
    const { work, pets, failures, stop } = await underLoad();
    for (let times = 0; times < 3; times++) {
      const known = Math.max(...pets.map(idOf));
      const ids = (await work.output('export')).match(/(?<="id":)\d+/g)?.map(Number) ?? [];
      expect(ids.length).toBeGreaterThanOrEqual(known);
      expect(ids.every((id, index) => id === index + 1)).toBe(true);
    }
    for (const name of ['first.db', 'second.db']) {
      const known = pets.map(idOf);
      expect(await work.output('backup', name)).toMatch(/^Backed up to /);
      const copy = new Database(work.path(name), { readonly: true });
      expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
      const stored = new Set(copy.prepare('SELECT id FROM pets').pluck().all());
      copy.close();
      expect(known.filter((id) => !stored.has(id))).toEqual([]);
    }
    await stop();
    expect(failures).toEqual([]);
    expect(partialsIn(work)).toEqual([]);
  });

  test('an export whose reader stalls does not make the write-ahead log grow, and is still a snapshot', async () => {
    const { work, pets, failures, stop } = await underLoad();
    const running = work.start(['export']);
    const { child, out } = running;
    await until(() => out.stdout !== '');
    child.stdout?.pause();
    const before = pets.length;
    const logSizes: number[] = [];
    await until(() => {
      logSizes.push(statSync(`${work.store}-wal`).size);
      return pets.length > before + 5000;
    });
    await stop();
    expect(failures).toEqual([]);
    expect(Math.max(...logSizes)).toBeLessThan(8 * 1024 * 1024);
    expect(child.exitCode).toBeNull();
    child.stdout?.resume();
    expect(await endOf(running)).toMatchObject({ status: 0 });
    const ids = out.stdout.match(/(?<="id":)\d+/g)?.map(Number) ?? [];
    expect(ids.every((id, index) => id === index + 1)).toBe(true);
    expect(ids.length).toBeGreaterThanOrEqual(PETS);
    expect(ids.length).toBeLessThan(PETS + pets.length);
  });

  test('an import delays creates, and the ids of its pets have no gap', async () => {
    const { work, pets, failures, stop } = await underLoad();
    expect((await work.run(['import', '--create-store', '-'], lines(PETS, 'imported'))).status).toBe(0);
    await stop();
    expect(failures.filter((failure) => !failure.includes('"storage_unavailable"'))).toEqual([]);
    const exported = (await work.outputHere(['export'])).trimEnd().split('\n');
    expect(exported).toHaveLength(2 * PETS + pets.length);
    const imported = exported.map((line) => JSON.parse(line)).filter(({ name }) => /^imported/.test(name));
    expect(imported).toHaveLength(PETS);
    expect(imported.at(-1).id - imported[0].id).toBe(PETS - 1);
  });
});
