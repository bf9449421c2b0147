/** Another program removes or changes tables of a store. */

import { describe, expect, test } from 'vitest';
import { openSqliteStorage } from '../../../../src/adapters/sqlite/index.ts';
import { examineSqliteStore } from '../../../../src/adapters/sqlite/maintenance/examination.ts';
import { connect } from '../../../support/sqlite.ts';
import { bytesOf, makeStore, REX, temporaryFile } from '../temporary-file.ts';
import { controlClock, openWatched, passInterval } from '../watched-storage.ts';

const DAMAGED = { code: 'storage_unavailable', reason: 'damaged' };

const changes = [
  'DROP TABLE pets',
  'ALTER TABLE pets RENAME TO animals',
  'ALTER TABLE pets RENAME COLUMN name TO title',
];

describe.each(changes)('%s', (sql) => {
  test('while the store is open: reads and writes reject, and the store is not ready', async () => {
    controlClock();
    const { storage, path, states } = await openWatched();
    connect(path).exec(sql);
    await passInterval();
    await expect(storage.pets.find(1n)).rejects.toMatchObject(DAMAGED);
    await expect(storage.pets.list({ limit: 10 })).rejects.toMatchObject(DAMAGED);
    await expect(storage.pets.add(REX)).rejects.toMatchObject(DAMAGED);
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
    expect(states).toEqual(['damaged']);
  });

  test('while the store is open: a check finds it without a request', async () => {
    controlClock();
    const { storage, path } = await openWatched();
    connect(path).exec(sql);
    await passInterval();
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
  });

  test('before the start: the store is refused and not changed, and `doctor` names the reason', () => {
    const path = temporaryFile();
    makeStore(path, 3);
    const other = connect(path);
    other.exec(sql);
    other.close();
    const before = bytesOf(path);
    const message = 'another program has changed the tables of the store (no such ';
    expect(() => openSqliteStorage(path)).toThrow(`${path}: ${message}`);
    expect(bytesOf(path)).toBe(before);
    const { isSound, problems } = examineSqliteStore(path);
    expect(isSound).toBe(false);
    expect(problems.map((problem) => problem.message).join()).toContain(message);
  });
});

test('a table that is back can be read again', async () => {
  controlClock();
  const { storage, path, added, states } = await openWatched();
  const other = connect(path);
  other.exec('ALTER TABLE pets RENAME TO animals');
  await passInterval();
  await expect(storage.pets.find(1n)).rejects.toMatchObject(DAMAGED);
  other.exec('ALTER TABLE animals RENAME TO pets');
  await passInterval();
  await storage.check();
  expect(await storage.pets.find(1n)).toEqual(added[0]);
  expect(states).toEqual(['damaged', undefined]);
});
