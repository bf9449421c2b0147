/** What a storage tells its observer and load balancers. The clock is under control. */

import { closeSync, existsSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN } from '../../../src/adapters/sqlite/errors.ts';
import { until } from '../../support/clock.ts';
import { connect } from '../../support/sqlite.ts';
import { bytesOf, NO_DUPLICATES, newStore, REX, temporaryFile } from './temporary-file.ts';
import { startedThreads } from './warm-storage.ts';
import { controlClock, openWatched } from './watched-storage.ts';

/** The interval of the checks of the files and of the tests of the storage, in milliseconds. */
const INTERVAL = 500;

beforeEach(controlClock);

const openEmpty = (path = temporaryFile()) => openWatched(path, 0);

describe('a file that is not the open one', () => {
  test('is neither created nor changed by a writer thread that starts later', async () => {
    const other = newStore(1);
    const threads = startedThreads();
    const { storage, path } = await openEmpty();
    await storage.pets.add(REX);
    renameSync(path, `${path}.old`);
    await threads[0]?.terminate();
    await expect(storage.pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(existsSync(path)).toBe(false);

    renameSync(other, path);
    const before = bytesOf(path);
    await expect(storage.pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(bytesOf(path)).toBe(before);
    expect(threads).toHaveLength(2);
  });

  // A restart would lose the database file, but not its companions.
  test.each([
    ['', /: move the same file back before any restart: see docs.watch\.md$/],
    [
      '-wal',
      /-wal was removed or renamed: move the same file back, or stop all servers of the store; another SQLite/,
    ],
  ])('refuses an import that began before, and the log says what to do: %s', async (suffix, advice) => {
    const { storage, path } = await openEmpty();
    await storage.pets.add(REX);
    const renamed = (async function* () {
      yield [REX];
      renameSync(`${path}${suffix}`, `${path}.old`);
      yield [REX];
    })();
    await expect(storage.transfer.importPets(renamed, NO_DUPLICATES)).rejects.toMatchObject({
      reason: 'file_missing',
      cause: expect.stringMatching(advice),
    });
  });
});

/** The batches of an import of one pet. */
async function* onePet() {
  yield [REX];
}

test('after the failed fsync of an import, it is unknown whether it was stored, and every write is refused', async () => {
  const { storage, states } = await openEmpty();
  const { exec } = Database.prototype;
  const failing = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: typeof exec, sql) {
    if (sql === 'COMMIT') throw new Database.SqliteError('no', 'SQLITE_IOERR_FSYNC');
    return exec.call(this, sql);
  });
  await expect(storage.transfer.importPets(onePet(), NO_DUPLICATES)).rejects.toThrow(UNKNOWN);
  failing.mockRestore();
  await expect(storage.pets.add(REX)).rejects.toMatchObject({ reason: 'sync_failed' });
  expect(states).toEqual(['sync_failed']);
});

test('an import waits for the lock of another process, but not for more than five seconds', async () => {
  const { storage, path, states } = await openEmpty();
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const statements = vi.spyOn(Database.prototype, 'exec');
  onTestFinished(() => statements.mockRestore());
  const begin = async () => {
    statements.mockClear();
    const importing = storage.transfer.importPets(onePet(), NO_DUPLICATES);
    await until(() => statements.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length > 1);
    return { importing };
  };
  const { importing: refused } = await begin();
  vi.advanceTimersByTime(5000);
  await expect(refused).rejects.toThrow('the database is locked by another process');
  const { importing: stored } = await begin();
  other.exec('COMMIT');
  expect(await stored).toBe(1);
  expect(states).toEqual([]);
});

test('a read that fails is repeated by checks until it succeeds, and nothing else ends the fault', async () => {
  const path = newStore(5000);
  const { storage, states } = await openEmpty(path);
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 8192) * 4096;
  const write = (from: number, data: Uint8Array) => {
    const file = openSync(path, 'r+');
    writeSync(file, data, 0, data.length, from);
    closeSync(file);
  };
  write(middle, Buffer.alloc(8 * 4096, 0xa5));
  let failed: bigint | undefined;
  for (let id = 1n; id <= 5000n && failed === undefined; id++) {
    await storage.pets.find(id).catch(() => {
      failed = id;
    });
  }
  expect(failed).toBeDefined();
  for (let times = 0; times < 3; times++) {
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
    expect(await storage.pets.find(1n)).toBeDefined();
    vi.advanceTimersByTime(INTERVAL);
  }
  expect(states).toEqual(['damaged']);
  write(middle, bytes.subarray(middle, middle + 8 * 4096));
  vi.advanceTimersByTime(INTERVAL);
  await storage.check();
  expect(await storage.pets.find(failed as bigint)).toBeDefined();
  expect(states).toEqual(['damaged', undefined]);
});

test('check neither waits for the lock of another process nor reports it', async () => {
  const { storage, path, states } = await openEmpty();
  await storage.pets.add(REX);
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const add = storage.pets.add(REX);
  await storage.check();
  other.exec('COMMIT');
  await add;
  expect(states).toEqual([]);
});
