import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { PlainError } from '../../../../src/adapters/sqlite/errors.ts';
import { CommitCheck, type StoreFiles } from '../../../../src/adapters/sqlite/store-files.ts';
import { BatchRunner } from '../../../../src/adapters/sqlite/write/batch.ts';
import type { Outcome, Write } from '../../../../src/adapters/sqlite/write/protocol.ts';
import { connect } from '../../../support/sqlite.ts';
import { newStore, openFiles } from '../temporary-file.ts';

const INSERT = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)';
const INSERT_FAILING = `INSERT INTO pets (name, category_id, status) VALUES (fail(?), 1, 'sold')`;

let path: string;
let db: Database.Database;
let files: StoreFiles;
let runner: BatchRunner;

beforeEach(() => {
  path = newStore();
  ({ db, files } = openFiles(path));
  runner = new BatchRunner(db, new CommitCheck(files));
  return () => void db.close();
});

/** Runs writes without waiting for a lock. */
function run(writes: readonly Write[]): readonly Outcome[] {
  return runner.commitBatch(writes, 0).outcomes;
}

function add(name: string | null): Write {
  return [[INSERT, name, 1n, 'available']];
}

/** The stored names, read by another connection. */
function storedNames(): unknown[] {
  return connect(path).prepare('SELECT name FROM pets ORDER BY id').pluck().all();
}

test('every write of a batch gets its own outcome, in order', () => {
  expect(run([add('a'), add('b'), add('c')])).toEqual([
    { changes: 1, rowId: 1n },
    { changes: 1, rowId: 2n },
    { changes: 1, rowId: 3n },
  ]);
  expect(storedNames()).toEqual(['a', 'b', 'c']);
});

describe('a write that fails', () => {
  const failures: [string, Write][] = [
    ['breaks a constraint', add(null)],
    ['has a value of the wrong type', [[INSERT, 'x', 'no number', 'available']]],
    ['has a value beyond int64', [[INSERT, 'x', 2n ** 63n, 'available']]],
    ['has too few values', [[INSERT, 'x']]],
    ['is not SQL', [['INSERT INTO nowhere']]],
    ['fails at its second statement', [...add('x'), ...add(null)]],
    ['fails at its second statement, which is not SQL', [...add('x'), ['NO SQL']]],
  ];

  test.each(failures)('%s: alone', (_, write) => {
    const outcomes = run([add('a'), write, add('b')]);
    expect(outcomes).toMatchObject([
      { changes: 1 },
      { code: 'internal_error', message: expect.any(String), detail: expect.any(String) },
      { changes: 1 },
    ]);
    expect(storedNames()).toEqual(['a', 'b']);
    expect(run([add('c')])).toMatchObject([{ changes: 1 }]);
    expect(storedNames()).toEqual(['a', 'b', 'c']);
  });
});

test('the reply to a batch has the number of its stored writes, and the duration of the transaction', () => {
  const startedAt = performance.now();
  const { transaction } = runner.commitBatch([add('a'), add(null), add('b')], 0);
  expect(transaction).toEqual({ writes: 2, ms: expect.any(Number) });
  expect(transaction?.ms).toBeGreaterThan(0);
  expect(transaction?.ms).toBeLessThan(performance.now() - startedAt);
});

test('a write without statements has no effect', () => {
  expect(run([[]])).toEqual([{ changes: 0, rowId: 0n }]);
});

test('equal SQL is compiled once, and the wait for a lock is set when it changes', () => {
  run([]);
  const prepare = vi.spyOn(db, 'prepare');
  const pragma = vi.spyOn(db, 'pragma');
  for (const lockTimeout of [7, 7, 8]) runner.commitBatch([add('a'), add('b')], lockTimeout);
  expect(prepare.mock.calls).toEqual([[INSERT]]);
  expect(pragma.mock.calls).toEqual([['busy_timeout = 7'], ['busy_timeout = 8']]);
});

test('the outcome of a write of several statements is the effect of the last one', () => {
  const both: Write = [...add('a'), ['UPDATE pets SET name = ? WHERE id = ?', 'b', 7n]];
  expect(run([both])).toMatchObject([{ changes: 0 }]);
});

test('a write ends at the first statement that changes no row', () => {
  const stopped: Write = [['UPDATE pets SET name = ? WHERE id = ?', 'b', 7n], ...add('c')];
  const refused: Write = [['UPDATE pets SET name = ? WHERE id = ?', 'b', 7n], ['NO SQL']];
  const unchanged = { changes: 0 };
  expect(run([stopped, add('a'), refused])).toMatchObject([unchanged, { changes: 1 }, unchanged]);
  expect(storedNames()).toEqual(['a']);
  // The last write makes all writes run again, each in a savepoint.
  const failing: Write = [...add('x'), ...add(null)];
  expect(run([stopped, add('d'), failing])).toMatchObject([
    unchanged,
    { changes: 1 },
    { code: 'internal_error' },
  ]);
  expect(storedNames()).toEqual(['a', 'd']);
});

test('a write that ends the transaction fails with all writes of its batch, and does not run again', () => {
  let runs = 0;
  db.function('name', () => {
    runs += 1;
    return null;
  });
  const ending: Write = [[INSERT.replace('INTO', 'OR ROLLBACK INTO').replace('?', 'name()'), 1n, 'sold']];
  for (const batch of [
    [add('a'), ending, add('b')],
    [add(null), add('a'), ending],
  ]) {
    runs = 0;
    const outcomes = run(batch);
    expect(outcomes).toHaveLength(batch.length);
    for (const { code, detail } of outcomes as PlainError[]) {
      expect([code, detail]).toEqual(['internal_error', expect.stringContaining('NOT NULL')]);
    }
    expect(runs).toBe(1);
    expect(storedNames()).toEqual([]);
  }
  expect(run([add('c')])).toMatchObject([{ changes: 1 }]);
  expect(storedNames()).toEqual(['c']);
});

test('when the commit fails, every write fails and nothing is stored', () => {
  db.exec(`
    CREATE TABLE owners (id INTEGER PRIMARY KEY);
    CREATE TABLE owned (owner_id INTEGER REFERENCES owners DEFERRABLE INITIALLY DEFERRED);
  `);
  const orphan: Write = [['INSERT INTO owned VALUES (?)', 7n]];
  const outcomes = run([add('a'), orphan, add('b')]);
  expect(outcomes).toHaveLength(3);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ code: 'internal_error' });
  expect(storedNames()).toEqual([]);
  expect(run([add('c')])).toMatchObject([{ changes: 1 }]);
  expect(storedNames()).toEqual(['c']);
});

test('when another process holds the lock, nothing is tried, and the next batch works', () => {
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  expect(runner.commitBatch([add('a'), add('b')], 0)).toEqual({ outcomes: [] });
  const start = performance.now();
  expect(runner.commitBatch([add('a')], 200)).toMatchObject({ outcomes: [] });
  expect(performance.now() - start).toBeGreaterThan(150);
  other.exec('ROLLBACK');
  expect(run([add('c')])).toMatchObject([{ changes: 1 }]);
  expect(storedNames()).toEqual(['c']);
});

test('when the space is used up, every acknowledged write is stored, and the others failed', () => {
  db.pragma('max_page_count = 40');
  const name = 'x'.repeat(255);
  const outcomes = Array.from({ length: 20 }, () => run(Array.from({ length: 50 }, () => add(name)))).flat();
  const written = outcomes.filter((outcome) => 'rowId' in outcome);
  const failed = outcomes.filter((outcome) => 'code' in outcome);
  expect(written.length).toBeGreaterThan(0);
  expect(failed.length).toBeGreaterThan(0);
  for (const { code } of failed) expect(code).toBe('storage_unavailable');
  const stored = connect(path).prepare('SELECT id FROM pets ORDER BY id').pluck().all();
  expect(stored).toEqual(written.map(({ rowId }) => rowId));

  db.pragma('max_page_count = 400');
  expect(run([add(name)])).toMatchObject([{ changes: 1 }]);
});

describe('a fault of the storage', () => {
  /** A runner whose check throws an error of SQLite at one of its checks. */
  function runnerWith(step: 'assertUnharmed' | 'acceptCommit', code: string): BatchRunner {
    const check = new CommitCheck(files);
    check[step] = () => {
      throw new Database.SqliteError('failed', code);
    };
    return new BatchRunner(db, check);
  }

  const failed = (reason: string | undefined, message: unknown = expect.not.stringContaining('unknown')) =>
    expect.objectContaining({ code: 'storage_unavailable', reason, message });
  const UNKNOWN = expect.stringMatching(/: it is unknown whether this was stored$/);

  test.each([
    ['SQLITE_IOERR_FSYNC', 'sync_failed'],
    ['SQLITE_IOERR_DIR_FSYNC', 'sync_failed'],
    ['SQLITE_IOERR_WRITE', 'io_error'],
    ['SQLITE_READONLY', 'read_only'],
    ['SQLITE_CORRUPT', 'damaged'],
  ])('%s during a commit: it is unknown whether the writes were stored', (code, reason) => {
    expect(runnerWith('acceptCommit', code).commitBatch([add('a'), add('b')], 0)).toEqual({
      outcomes: [failed(reason, UNKNOWN), failed(reason, UNKNOWN)],
    });
  });

  test.each([
    ['SQLITE_FULL', 'disk_full'],
    ['SQLITE_BUSY', undefined],
  ])('%s during a commit: the message does not say that the result is unknown', (code, reason) => {
    expect(runnerWith('acceptCommit', code).commitBatch([add('a')], 0)).toEqual({
      outcomes: [failed(reason)],
    });
  });

  test.each([
    ['SQLITE_IOERR_FSYNC', 'sync_failed'],
    ['SQLITE_FULL', 'disk_full'],
  ])('%s before a commit: nothing was stored', (code, reason) => {
    expect(runnerWith('assertUnharmed', code).commitBatch([add('a')], 0)).toEqual({
      outcomes: [failed(reason)],
    });
    expect(storedNames()).toEqual([]);
    expect(db.inTransaction).toBe(false);
  });

  test('a failed fsync refuses all further writes, and those of probes, which are not stored', () => {
    const check = new CommitCheck(files);
    vi.spyOn(check, 'assertUnharmed').mockImplementationOnce(() => {
      throw new Database.SqliteError('failed', 'SQLITE_IOERR_FSYNC');
    });
    const stopped = new BatchRunner(db, check);
    for (let times = 0; times < 2; times++) {
      expect(stopped.commitBatch([add('a'), add('b')], 0).outcomes).toEqual([
        failed('sync_failed'),
        failed('sync_failed'),
      ]);
    }
    expect(stopped.probe(true)).toEqual({ testWrites: [failed('sync_failed'), failed('sync_failed')] });
    expect(storedNames()).toEqual([]);
  });

  test('of one write is reported, and the other writes are stored', () => {
    db.function('fail', (code) => {
      throw new Database.SqliteError('failed', String(code));
    });
    const failing = (code: string): Write => [[INSERT_FAILING, code]];
    const report = runner.commitBatch(
      [add('a'), failing('SQLITE_ERROR'), failing('SQLITE_FULL'), failing('SQLITE_IOERR_READ'), add('b')],
      0,
    );
    expect(report).toMatchObject({
      outcomes: [
        { changes: 1 },
        { code: 'internal_error' },
        { reason: 'disk_full' },
        { reason: 'io_error' },
        { changes: 1 },
      ],
    });
    expect(storedNames()).toEqual(['a', 'b']);
  });
});
