/** Probes and batches of the writer thread, on real files that are damaged. */

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
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { CommitCheck, type StoreFiles } from '../../../../src/adapters/sqlite/store-files.ts';
import { BatchRunner } from '../../../../src/adapters/sqlite/write/batch.ts';
import type { ProbeReply } from '../../../../src/adapters/sqlite/write/protocol.ts';
import { connect } from '../../../support/sqlite.ts';
import { newStore, openFiles } from '../temporary-file.ts';

const PETS = 5000;
const ADD = ['INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)', 'Max', 1n, 'sold'] as const;
const SOUND: ProbeReply = { testWrites: [] };
const WRITABLE: ProbeReply = {
  testWrites: [
    { changes: 1, rowId: expect.anything() },
    { changes: 1, rowId: expect.anything() },
  ],
};

function harmed(reason: string): ProbeReply {
  return { failure: expect.objectContaining({ code: 'storage_unavailable', reason }), testWrites: [] };
}

let path: string;
let files: StoreFiles;
let db: Database.Database;
let probe: (tryWrite: boolean) => ProbeReply;
let runner: BatchRunner;

beforeEach(() => {
  path = newStore(PETS);
  ({ db, files } = openFiles(path));
  const check = new CommitCheck(files);
  runner = new BatchRunner(db, check);
  probe = probeWith(check);
  return () => void db.close();
});

function probeWith(check: CommitCheck): (tryWrite: boolean) => ProbeReply {
  return (tryWrite) => new BatchRunner(db, check).probe(tryWrite);
}

function overwrite(from: number, to: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(to - from, 0xa5), 0, to - from, from);
  closeSync(file);
}

/** The position of a page that has rows of neither end of a table. */
function middle(): number {
  return Math.floor(statSync(path).size / 8192) * 4096;
}

/** All rows of the store, read by another connection. */
function contents(): unknown[] {
  const other = connect(path);
  return ['pets', 'api_keys', 'sqlite_sequence'].map((table) =>
    other.prepare(`SELECT * FROM ${table}`).all(),
  );
}

/** Makes every change of a table of users fail until the end of the test. */
function forbidChanges(tables: readonly string[]): void {
  for (const table of tables) {
    for (const change of ['INSERT', 'UPDATE', 'DELETE']) {
      db.exec(`CREATE TEMP TRIGGER ${table}_${change} BEFORE ${change} ON main.${table}
        BEGIN SELECT raise(ABORT, 'changed'); END`);
    }
  }
}

test.each([0, PETS])(
  'a probe that writes needs as much space as a full batch, and touches no row of %i pets',
  (pets) => {
    db.exec(`DELETE FROM pets WHERE id > ${pets}`);
    db.pragma('wal_checkpoint(TRUNCATE)');
    const before = contents();
    forbidChanges(['pets', 'api_keys', 'idempotency_records']);
    expect(probe(true)).toEqual(WRITABLE);
    // Four pets with the longest names fill a page of 4 KiB.
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(250 * 4096);
    expect(contents()).toEqual(before);
    expect(db.prepare('SELECT count(*) FROM probe').pluck().get()).toBe(0n);
  },
);

describe('a probe', () => {
  test('of a sound store finds nothing, and writes only with `tryWrite`', () => {
    const version = connect(path).pragma('user_version', { simple: true });
    const before = contents();
    const { size } = statSync(`${path}-wal`);
    expect(probe(false)).toEqual(SOUND);
    expect(statSync(`${path}-wal`).size).toBe(size);
    expect(probe(true)).toEqual(WRITABLE);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(size);
    expect(contents()).toEqual(before);
    expect(connect(path).pragma('user_version', { simple: true })).toBe(version);
  });

  test('that writes leaves its pages to pets, and the next probe uses them again', () => {
    expect(probe(true)).toEqual(WRITABLE);
    const size = db.pragma('page_count', { simple: true });
    for (let times = 0; times < 20; times++) expect(probe(true)).toEqual(WRITABLE);
    expect(runner.commitBatch([[ADD]], 0).outcomes).toMatchObject([{ changes: 1 }]);
    expect(db.pragma('page_count', { simple: true })).toBe(size);
  });

  test('that writes replaces the data that an interrupted probe has left', () => {
    db.exec("INSERT INTO probe VALUES (1, x'00')");
    expect(probe(true)).toEqual(WRITABLE);
    expect(db.prepare('SELECT count(*) FROM probe').pluck().get()).toBe(0n);
  });

  test('that writes finds a file that another program truncates during its commit', () => {
    const check = new CommitCheck(files);
    vi.spyOn(check, 'assertUnharmed')
      .mockReturnValueOnce()
      .mockImplementationOnce(() => truncateSync(path, 4096));
    expect(probeWith(check)(true).testWrites.at(-1)).toMatchObject({ reason: 'damaged' });
  });

  test('that does not get the lock has no finding about writing', () => {
    connect(path).exec('BEGIN IMMEDIATE');
    expect(probe(true)).toEqual(SOUND);
  });

  test('finds the reason why writing fails', () => {
    db.pragma('query_only = ON');
    const { failure, testWrites } = probe(true);
    expect(failure).toBeUndefined();
    expect(testWrites[0]).toMatchObject({ reason: 'read_only' });
    expect(db.inTransaction).toBe(false);
    db.pragma('query_only = OFF');
    expect(probe(true)).toEqual(WRITABLE);
  });

  test.each([
    ['removed', () => rmSync(path), 'file_missing'],
    ['replaced', () => renameSync(`${path}-shm`, path), 'file_replaced'],
    ['without its log', () => rmSync(`${path}-wal`), 'file_missing'],
    ['without the index of its log', () => rmSync(`${path}-shm`), 'file_missing'],
  ])('of a file that is %s reports only that', (_, harm, reason) => {
    harm();
    expect(probe(true)).toEqual(harmed(reason));
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
      expect(probe(true)).toEqual(harmed('damaged'));
    }
  });

  test('reads the pages from the disk, even if the check has found nothing', () => {
    const check = new CommitCheck(files);
    check.assertUnharmed = () => {};
    expect(db.prepare('SELECT count(name) FROM pets').pluck().get()).toBe(BigInt(PETS));
    overwrite(4096, statSync(path).size);
    expect(probeWith(check)(false)).toEqual(harmed('damaged'));
  });

  test('finds that another program has removed a table', () => {
    connect(path).exec('DROP TABLE idempotency_records');
    expect(probe(false)).toEqual(harmed('damaged'));
  });

  test('does not report the lock of another process as a fault', () => {
    const check = new CommitCheck(files);
    check.assertUnharmed = () => {
      throw new Database.SqliteError('database is locked', 'SQLITE_BUSY_RECOVERY');
    };
    expect(probeWith(check)(false)).toEqual(SOUND);
  });
});

describe('a batch', () => {
  test.each([
    ['truncated', () => truncateSync(path, 3 * 4096), 'damaged'],
    ['truncated to nothing', () => truncateSync(path), 'damaged'],
    ['overwritten', () => overwrite(4096, 12_288), 'damaged'],
    ['overwritten in its middle', () => overwrite(middle(), middle() + 4096), 'damaged'],
  ])('to a file that was %s is refused before its commit', (_, harm, reason) => {
    const before = runner.commitBatch([[ADD]], 0).outcomes;
    expect(before).toMatchObject([{ changes: 1 }]);
    // A check is valid for some milliseconds.
    const soon = performance.now() + 20;
    harm();
    while (performance.now() < soon);
    const { outcomes } = runner.commitBatch([[ADD], [ADD]], 0);
    expect(outcomes).toMatchObject([
      { code: 'storage_unavailable', reason },
      { code: 'storage_unavailable', reason },
    ]);
    expect(db.inTransaction).toBe(false);
  });

  test('to a file that was only touched is stored', () => {
    expect(runner.commitBatch([[ADD]], 0).outcomes).toMatchObject([{ changes: 1 }]);
    utimesSync(path, 1, 1);
    const soon = performance.now() + 20;
    while (performance.now() < soon);
    expect(runner.commitBatch([[ADD]], 0).outcomes).toMatchObject([{ changes: 1 }]);
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
    const { outcomes } = runner.commitBatch(
      [[ADD], [[ADD[0].replace('VALUES (?, ?,', 'VALUES (?, harm() + ?,'), ...ADD.slice(1)]]],
      0,
    );
    expect(outcomes).toMatchObject([{ reason }, { reason }]);
    expect(db.prepare('SELECT count(*) FROM pets').pluck().get()).toBe(BigInt(PETS));
  });
});
