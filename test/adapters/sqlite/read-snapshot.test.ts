import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { beforeEach, expect, test } from 'vitest';
import { openReader } from '../../../src/adapters/sqlite/database.ts';
import { ReadSnapshot } from '../../../src/adapters/sqlite/read-snapshot.ts';
import { connect } from '../../support/sqlite.ts';
import { newStore, openHealth, temporaryFile } from './temporary-file.ts';

let path: string;
let db: Database.Database;
let snapshot: ReadSnapshot;

beforeEach(() => {
  path = newStore();
  db = openReader(path);
  snapshot = new ReadSnapshot(db, openHealth());
  return () => void db.close();
});

test('the version changes as soon as another connection has written', async () => {
  const other = connect(path);
  const first = snapshot.version();
  expect(snapshot.version()).toBe(first);
  expect(snapshot.recentVersion()).toBe(first);
  other.exec('CREATE TABLE t (x)');
  expect(snapshot.recentVersion()).toBe(first);
  const second = snapshot.version();
  expect(second).not.toBe(first);
  expect(snapshot.recentVersion()).toBe(second);
});

test('the recent version is not from before a write of this storage, nor from an earlier turn', async () => {
  const other = connect(path);
  const first = snapshot.recentVersion();
  other.exec('CREATE TABLE t (x)');
  snapshot.forgetVersion();
  const second = snapshot.recentVersion();
  expect(second).not.toBe(first);
  other.exec('CREATE TABLE u (x)');
  await nextTurn();
  expect(snapshot.recentVersion()).not.toBe(second);
});

test('reads see what was written after they were requested, and the version is that of their transaction', async () => {
  const other = connect(path);
  other.exec('CREATE TABLE t (x)');
  const count = db.prepare('SELECT count(*) FROM t').pluck().safeIntegers(false);
  const versions: unknown[] = [];
  const read = (): Promise<unknown> =>
    snapshot.read(() => {
      versions.push(snapshot.version(), snapshot.recentVersion());
      const counted = count.get();
      other.exec('INSERT INTO t VALUES (1)');
      return counted;
    });
  const before = snapshot.version();
  const reads = Promise.all([read(), read()]);
  other.exec('INSERT INTO t VALUES (1)');
  expect(await reads).toEqual([1, 1]);
  expect(new Set(versions).size).toBe(1);
  expect(versions[0]).not.toBe(before);
  expect(snapshot.version()).not.toBe(versions[0]);
});

test('a snapshot that could not be opened leaves no transaction open', async () => {
  db.close();
  path = temporaryFile();
  const other = connect(path);
  other.exec('CREATE TABLE t (x)');
  db = new Database(path, { timeout: 0 });
  snapshot = new ReadSnapshot(db, openHealth());
  const before = snapshot.version();
  other.exec('BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)');
  expect(() => snapshot.version()).toThrow('database is locked');
  await expect(snapshot.read(() => 'read')).rejects.toThrow('database is locked');
  other.exec('COMMIT');
  expect(snapshot.version()).not.toBe(before);
  const count = db.prepare('SELECT count(*) FROM t').pluck().safeIntegers(false);
  expect(await snapshot.read(() => count.get())).toBe(1);
  await nextTurn();
  expect(db.inTransaction).toBe(false);
});

test('a snapshot that SQLite has rolled back is left without an error', async () => {
  await snapshot.read(() => db.exec('ROLLBACK'));
  await nextTurn();
  expect(await snapshot.read(() => db.inTransaction)).toBe(true);
  await nextTurn();
  expect(db.inTransaction).toBe(false);
});

test('the reads of a turn run together in one transaction, and a failed read fails alone', async () => {
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
});

test('closing rejects the queued reads', async () => {
  snapshot.version();
  const read = snapshot.read(() => 'read');
  snapshot.close();
  db.close();
  await expect(read).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('closed'),
  });
  await expect(snapshot.read(() => 'read')).rejects.toMatchObject({ code: 'storage_unavailable' });
});
