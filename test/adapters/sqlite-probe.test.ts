/** What the writer thread finds out, on real files that are harmed. */

import {
  closeSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import type Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { BatchRunner } from '../../src/adapters/sqlite/batch.ts';
import { openWriter } from '../../src/adapters/sqlite/database.ts';
import { FileGuard } from '../../src/adapters/sqlite/file-guard.ts';
import { Probe } from '../../src/adapters/sqlite/probe.ts';
import { filesOf } from '../../src/adapters/sqlite/store-files.ts';
import { connect, makeStore, temporaryFile } from './sqlite-file.ts';

const PETS = 5000;
const ADD = ['INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)', 'Max', 1n, 'sold'] as const;
const SOUND = { file: null, access: null, pages: null };

let path: string;
let db: Database.Database;
let probe: Probe;
let runner: BatchRunner;

beforeEach(async () => {
  path = temporaryFile();
  await makeStore(path, PETS);
  db = openWriter(path);
  const files = filesOf(path);
  const guard = new FileGuard(files);
  probe = new Probe(db, files, guard);
  runner = new BatchRunner(db, guard);
  return () => {
    db.close();
  };
});

function overwrite(from: number, to: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(to - from, 0xa5), 0, to - from, from);
  closeSync(file);
}

/** Everything that the store holds, by the eyes of another connection. */
function contents(): unknown[] {
  const other = connect(path);
  return ['pets', 'api_keys', 'sqlite_sequence'].map((table) =>
    other.prepare(`SELECT * FROM ${table}`).all(),
  );
}

describe('a probe', () => {
  test('of a sound store finds nothing, and writes only when it is told to', () => {
    const version = connect(path).pragma('user_version', { simple: true });
    const before = contents();
    const { size } = statSync(`${path}-wal`);
    expect(probe.run(false)).toEqual(SOUND);
    expect(statSync(`${path}-wal`).size).toBe(size);
    expect(probe.run(true)).toEqual({ ...SOUND, write: null });
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(size);
    expect(contents()).toEqual(before);
    expect(connect(path).pragma('user_version', { simple: true })).toBe(version);
  });

  test('that writes leaves the size of the file as it is', () => {
    const size = db.pragma('page_count', { simple: true });
    for (let times = 0; times < 20; times++) expect(probe.run(true).write).toBeNull();
    expect(db.pragma('page_count', { simple: true })).toBe(size);
  });

  test('that cannot have the lock tells nothing of writing', () => {
    connect(path).exec('BEGIN IMMEDIATE');
    db.pragma('busy_timeout = 0');
    expect(probe.run(true)).toEqual(SOUND);
  });

  test('tells why writing does not work', () => {
    db.pragma('query_only = ON');
    expect(probe.run(true)).toMatchObject({ ...SOUND, write: { reason: 'read_only' } });
    expect(db.inTransaction).toBe(false);
    db.pragma('query_only = OFF');
    expect(probe.run(true).write).toBeNull();
  });

  test.each([
    ['removed', () => rmSync(path), 'file_missing'],
    ['replaced', () => renameSync(`${path}-shm`, path), 'file_replaced'],
    ['without its log', () => rmSync(`${path}-wal`), 'file_missing'],
    ['without the index of its log', () => rmSync(`${path}-shm`), 'file_missing'],
  ])('of a file that is %s tells that alone', (_, harm, reason) => {
    harm();
    expect(probe.run(true)).toEqual({ file: expect.objectContaining({ reason }) });
  });

  test.each([
    ['truncated to nothing', () => truncateSync(path)],
    ['truncated to a page', () => truncateSync(path, 4096)],
    ['overwritten', () => overwrite(4096, statSync(path).size)],
    ['overwritten, in one page', () => overwrite(4096, 8192)],
  ])('of a file that is %s finds it damaged, although the pages were cached', (_, harm) => {
    expect(db.prepare('SELECT count(name) FROM pets').pluck().get()).toBe(BigInt(PETS));
    harm();
    for (let times = 0; times < 2; times++) {
      expect(probe.run(true)).toEqual({ ...SOUND, pages: expect.objectContaining({ reason: 'damaged' }) });
    }
  });
});

describe('a batch', () => {
  test.each([
    ['truncated', () => truncateSync(path, 3 * 4096), 'damaged'],
    ['truncated to nothing', () => truncateSync(path), 'damaged'],
    ['overwritten', () => overwrite(4096, 12_288), 'damaged'],
  ])('to a file that was %s is refused before its commit', (_, harm, reason) => {
    const before = runner.run([[ADD]], 0).outcomes;
    expect(before).toMatchObject([{ changes: 1 }]);
    // A check stands for some milliseconds.
    const soon = performance.now() + 20;
    harm();
    while (performance.now() < soon);
    const { outcomes, findings } = runner.run([[ADD], [ADD]], 0);
    expect(outcomes).toMatchObject([
      { code: 'storage_unavailable', reason },
      { code: 'storage_unavailable', reason },
    ]);
    expect(findings).toMatchObject({ write: { reason } });
    expect(db.inTransaction).toBe(false);
  });

  test('to a file that was only touched is stored', () => {
    expect(runner.run([[ADD]], 0).outcomes).toMatchObject([{ changes: 1 }]);
    utimesSync(path, 1, 1);
    const soon = performance.now() + 20;
    while (performance.now() < soon);
    expect(runner.run([[ADD]], 0).outcomes).toMatchObject([{ changes: 1 }]);
  });

  test.each([
    ['removed', () => rmSync(path), 'file_missing'],
    ['replaced', () => renameSync(`${path}-shm`, path), 'file_replaced'],
    ['removed with its log', () => rmSync(`${path}-wal`), 'file_missing'],
  ])('to a file that is %s in the middle of it is not stored', (_, harm, reason) => {
    db.function('harm', () => {
      harm();
      return 1n;
    });
    const { outcomes, findings } = runner.run(
      [[ADD], [[ADD[0].replace('VALUES (?, ?,', 'VALUES (?, harm() + ?,'), ...ADD.slice(1)]]],
      0,
    );
    expect(outcomes).toMatchObject([{ reason }, { reason }]);
    expect(findings).toEqual({ file: expect.objectContaining({ reason }) });
    expect(db.prepare('SELECT count(*) FROM pets').pluck().get()).toBe(BigInt(PETS));
  });
});
