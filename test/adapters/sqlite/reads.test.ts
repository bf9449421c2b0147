import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openReader } from '../../../src/adapters/sqlite/database.ts';
import { Reads } from '../../../src/adapters/sqlite/reads.ts';
import { keyConflict } from '../../../src/domain/idempotency-key.ts';
import { newFaults, newStore, REX, temporaryFile } from './temporary-file.ts';

let path: string;
let db: Database.Database;
let reads: Reads;

beforeEach(() => {
  path = newStore();
  db = openReader(path);
  reads = new Reads(db, newFaults());
  return () => void db.close();
});

test('after an error with which SQLite ends the transaction, the next read begins another one', async () => {
  const first = reads.read(() => {
    db.exec('ROLLBACK');
    throw new Error('the disk failed');
  });
  const second = reads.read(() => db.inTransaction);
  await expect(first).rejects.toMatchObject({ code: 'internal_error' });
  expect(await second).toBe(true);
  await nextTurn();
  expect(db.inTransaction).toBe(false);
});

test('the reads of a turn run together in one transaction, and a failed read fails alone', async () => {
  const order: number[] = [];
  const read = (number: number) =>
    reads.read(() => {
      order.push(number);
      if (number === 2) throw new RangeError('the second read');
      return db.inTransaction && number;
    });
  const results = Promise.allSettled([read(1), read(2), read(3)]);
  expect(order).toEqual([]);
  const reason = { cause: { message: 'the second read' } };
  expect(await results).toMatchObject([{ value: 1 }, { reason }, { value: 3 }]);
  expect(order).toEqual([1, 2, 3]);
  expect(db.inTransaction).toBe(false);
});

test('an error of the disk with which SQLite ends a transaction at its beginning is told', async () => {
  const prepare = db.prepare.bind(db);
  const dataVersion = prepare('PRAGMA data_version');
  vi.spyOn(dataVersion, 'get').mockImplementationOnce(() => {
    db.exec('ROLLBACK');
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ');
  });
  vi.spyOn(db, 'prepare').mockImplementation((sql) =>
    sql === 'PRAGMA data_version' ? dataVersion : prepare(sql),
  );
  reads = new Reads(db, newFaults());
  await expect(reads.read(() => 'read')).rejects.toMatchObject({ reason: 'io_error' });
  expect(await reads.read(() => 'read')).toBe('read');
});

test.each([
  ['succeeds', () => {}],
  [
    'refuses only the request',
    () => {
      throw keyConflict('request');
    },
  ],
])('the fault of a failed read lasts until this read %s, though others succeed', async (_, readable) => {
  const faults = newFaults();
  reads = new Reads(db, faults);
  let isReadable = false;
  const failed = reads.read(() => {
    if (isReadable) return readable();
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ');
  });
  await expect(failed).rejects.toMatchObject({ reason: 'io_error' });
  for (const expected of ['io_error', undefined]) {
    await reads.test();
    expect(faults.of('reads')?.reason).toBe(expected);
    isReadable = true;
  }
});

test('a storage that is opened after a test has replaced `setImmediate` works', async () => {
  vi.resetModules();
  const { createAnimalStore } = await import('../../../src/library/index.ts');
  vi.useFakeTimers({ toFake: ['setImmediate'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await createAnimalStore({ database: `sqlite:${temporaryFile()}` });
  onTestFinished(() => store.close());
  expect((await store.createPet(REX)).id).toBe(1n);
});
