import type Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { BatchRunner, type Outcome } from '../../../src/adapters/sqlite/batch.ts';
import { openWriter, prepareDatabase } from '../../../src/adapters/sqlite/database.ts';
import { FileGuard } from '../../../src/adapters/sqlite/file-guard.ts';
import type { Write } from '../../../src/adapters/sqlite/statement-writer.ts';
import { filesOf } from '../../../src/adapters/sqlite/store-files.ts';
import { connect, temporaryFile } from './temporary-file.ts';

const INSERT = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)';

let path: string;
let db: Database.Database;
let runner: BatchRunner;

beforeEach(() => {
  path = temporaryFile();
  prepareDatabase(path);
  db = openWriter(path);
  runner = new BatchRunner(db, new FileGuard(filesOf(path)));
  return () => {
    db.close();
  };
});

/** Runs writes without waiting for a lock. */
function run(writes: readonly Write[]): readonly Outcome[] {
  return runner.run(writes, 0).outcomes;
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
      { code: 'internal_error', message: 'the database refused a statement', detail: expect.any(String) },
      { changes: 1 },
    ]);
    expect(storedNames()).toEqual(['a', 'b']);
    expect(run([add('c')])).toMatchObject([{ changes: 1 }]);
    expect(storedNames()).toEqual(['a', 'b', 'c']);
  });
});

test('the outcome of a write of several statements is the effect of the last one', () => {
  const both: Write = [...add('a'), ['UPDATE pets SET name = ? WHERE id = ?', 'b', 7n]];
  expect(run([both])).toMatchObject([{ changes: 0 }]);
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
  expect(runner.run([add('a'), add('b')], 0)).toEqual({ outcomes: [], isLocked: true, findings: {} });
  const start = performance.now();
  expect(runner.run([add('a')], 200)).toMatchObject({ isLocked: true });
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
