import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openReader, prepareDatabase } from '../../../src/adapters/sqlite/database.ts';
import { ReadSnapshot } from '../../../src/adapters/sqlite/read-snapshot.ts';
import { connect } from '../../support/sqlite.ts';
import { openHealth, temporaryFile } from './temporary-file.ts';

test('the version changes when another connection writes', async () => {
  const path = temporaryFile();
  prepareDatabase(path);
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db, openHealth());
  const other = connect(path);
  const first = snapshot.enter();
  expect(snapshot.enter()).toBe(first);
  await nextTurn();
  expect(db.inTransaction).toBe(false);
  expect(snapshot.enter()).toBe(first);
  other.exec('CREATE TABLE t (x)');
  expect(snapshot.enter()).toBe(first);
  snapshot.leave();
  snapshot.leave();
  expect(snapshot.enter()).not.toBe(first);
  await nextTurn();
  db.close();
});

test('a snapshot that could not be opened leaves no transaction open', async () => {
  const path = temporaryFile();
  const other = connect(path);
  other.exec('CREATE TABLE t (x)');
  const db = new Database(path, { timeout: 0 });
  const snapshot = new ReadSnapshot(db, openHealth());
  const before = snapshot.enter();
  await nextTurn();
  other.exec('BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)');
  expect(() => snapshot.enter()).toThrow('database is locked');
  expect(() => snapshot.enter()).toThrow('database is locked');
  other.exec('COMMIT');
  expect(snapshot.enter()).not.toBe(before);
  expect(db.prepare('SELECT count(*) FROM t').pluck().get()).toBe(1);
  await nextTurn();
  expect(db.inTransaction).toBe(false);
  db.close();
});

test('a snapshot that SQLite has rolled back is left without an error', async () => {
  const path = temporaryFile();
  prepareDatabase(path);
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db, openHealth());
  snapshot.enter();
  db.exec('ROLLBACK');
  await nextTurn();
  snapshot.enter();
  expect(db.inTransaction).toBe(true);
  await nextTurn();
  db.close();
});

test('the reads of a turn run together in one transaction, and a failed read fails alone', async () => {
  const path = temporaryFile();
  prepareDatabase(path);
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db, openHealth());
  const order: number[] = [];
  const read = (number: number) =>
    snapshot.read(() => {
      order.push(number);
      if (number === 2) throw new RangeError('the second read');
      return db.inTransaction && number;
    });
  const results = Promise.allSettled([read(1), read(2), read(3)]);
  expect(order).toEqual([]);
  expect(await results).toMatchObject([
    { value: 1 },
    { reason: { cause: { message: 'the second read' } } },
    { value: 3 },
  ]);
  expect(order).toEqual([1, 2, 3]);
  expect(db.inTransaction).toBe(false);
  db.close();
});

test('closing rejects the queued reads', async () => {
  const path = temporaryFile();
  prepareDatabase(path);
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db, openHealth());
  snapshot.enter();
  const read = snapshot.read(() => 'read');
  snapshot.close();
  db.close();
  await expect(read).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('closed'),
  });
  await expect(snapshot.read(() => 'read')).rejects.toMatchObject({ code: 'storage_unavailable' });
});
