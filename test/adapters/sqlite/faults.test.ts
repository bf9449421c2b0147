/** Faults, as a storage reports them to its observer and to load balancers. The clock is under control. */

import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type PlainError, plainError, UNKNOWN } from '../../../src/adapters/sqlite/errors.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { replaceFs } from '../../support/replace-fs.ts';
import { connect } from '../../support/sqlite.ts';
import { bytesOf, newStore, REX, temporaryFile } from './temporary-file.ts';
import { startedThreads } from './warm-storage.ts';
import { controlClock, openWatched, passInterval } from './watched-storage.ts';

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

  test('is refused by a writer thread that starts later, without a path in the message, which clients see', async () => {
    const threads = startedThreads();
    const { storage, path } = await openEmpty();
    await storage.pets.add(REX);
    truncateSync(path);
    await threads[0]?.terminate();
    await expect(storage.pets.add(REX)).rejects.toMatchObject({
      reason: 'file_replaced',
      message: 'the database files do not belong together',
      cause: expect.stringContaining(`${path}-wal exists, but the database file is empty`),
    });
  });

  // A restart would lose the database file, but not its companions.
  test.each([
    ['', /: move the same file back before any restart: see docs.watch\.md$/],
    ['-wal', /-wal was removed or renamed: move the same file back before any restart: see/],
  ])('refuses an import that began before, and the log says what to do: %s', async (suffix, advice) => {
    const { storage, path } = await openEmpty();
    await storage.pets.add(REX);
    const renamed = (async function* () {
      yield [REX];
      renameSync(`${path}${suffix}`, `${path}.old`);
      yield [REX];
    })();
    const missing = { reason: 'file_missing', cause: expect.stringMatching(advice) };
    await expect(importPets(storage, renamed)).rejects.toMatchObject(missing);
  });
});

test('after the failed fsync of an import, it is unknown whether it was stored, and every write is refused', async () => {
  const { storage, states } = await openEmpty();
  const failed = { ...plainError(new Database.SqliteError('no', 'SQLITE_IOERR_FSYNC')), message: UNKNOWN };
  const threads = heldThreads(failed);
  await expect(importPets(storage, inBatches([REX]))).rejects.toThrow(UNKNOWN);
  expect(threads.commits).toBe(1);
  await expect(storage.pets.add(REX)).rejects.toMatchObject({ reason: 'sync_failed' });
  expect(states).toEqual(['sync_failed']);
});

test.each([
  ['COMMIT', UNKNOWN],
  ['BEGIN IMMEDIATE', ''],
])(
  'when the thread of an import fails at %s, the error says only of a commit that its outcome is unknown',
  async (sql, outcome) => {
    const { storage } = await openEmpty();
    heldThreads(new Error('out of memory'), sql);
    const message = `the thread of the transaction exited${outcome}`;
    await expect(importPets(storage, inBatches([REX]))).rejects.toMatchObject({ message });
  },
);

/** Replaces the reply of each started thread to a statement. */
function heldThreads(answer: PlainError | Error, sql = 'COMMIT'): { commits: number } {
  const counter = { commits: 0 };
  const onWorker = (thread: Worker): void => {
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message: unknown) => {
      if ((message as { sql?: string }).sql !== sql) return post(message);
      counter.commits += 1;
      thread.emit(answer instanceof Error ? 'error' : 'message', answer);
    };
  };
  process.on('worker', onWorker);
  onTestFinished(() => void process.off('worker', onWorker));
  return counter;
}

test('imports, the first key and backups are the work of threads, so that no read waits for an fsync', async () => {
  const { storage } = await openEmpty();
  const spies = (['exec', 'pragma', 'backup'] as const).map((name) => vi.spyOn(Database.prototype, name));
  onTestFinished(() => spies.forEach((spy) => void spy.mockRestore()));
  replaceFs('fsyncSync', () => {
    throw new Error('an fsync on the event loop');
  });
  expect(await importPets(storage, inBatches([REX]))).toBe(1);
  const about = { name: 'first', prefix: 'p', createdAt: 1 };
  expect(await storage.apiKeys.addFirst('key', about)).toMatchObject({ id: '1' });
  const onVerified = vi.fn();
  await storage.backup?.(temporaryFile(), { onVerified });
  expect(onVerified).toHaveBeenCalledWith({ pets: 1, apiKeys: 1, lastId: 1n, problems: [] });
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});

test('an import waits for the lock of another process, but not for more than five seconds', async () => {
  const { storage, path, states } = await openEmpty();
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const importing = (): Promise<number> => importPets(storage, inBatches([REX]));
  await expect(importing()).rejects.toThrow('the database is locked by another process');
  const stored = importing();
  other.exec('COMMIT');
  expect(await stored).toBe(1);
  expect(states).toEqual([]);
});

test('a read of a damaged page fails alone, and the fault lasts until the page can be read', async () => {
  const path = newStore(5000);
  const { storage, states } = await openEmpty(path);
  const [file, pages] = [openSync(path, 'r+'), 8 * 4096];
  const start = Math.floor(statSync(path).size / 8192) * 4096;
  const sound = readFileSync(path).subarray(start, start + pages);
  writeSync(file, Buffer.alloc(pages, 0xa5), 0, pages, start);
  const ids = Array.from({ length: 5000 }, (_, index) => BigInt(index + 1));
  const found = await Promise.allSettled(ids.map((id) => storage.pets.find(id)));
  expect(new Set(found.map(({ status }) => status))).toEqual(new Set(['fulfilled', 'rejected']));
  expect(states).toEqual(['damaged']);
  await passInterval();
  await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
  writeSync(file, sound, 0, pages, start);
  closeSync(file);
  await passInterval();
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
