import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { plainError } from '../../../../src/adapters/sqlite/errors.ts';
import type { Health } from '../../../../src/adapters/sqlite/health.ts';
import { StorageFault, type StorageFaultReason } from '../../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../../src/domain/errors.ts';
import { INT64_MAX } from '../../../../src/domain/int64.ts';
import type { NewPet } from '../../../../src/domain/pet.ts';
import { connect } from '../../../support/sqlite.ts';
import { bytesOf, NO_DUPLICATES, newStore, openHealth, REX, temporaryFile } from '../temporary-file.ts';
import { startedThreads } from '../warm-storage.ts';
import { controlClock, openWatched } from '../watched-storage.ts';

/** The interval of the checks of the files and of the tests of the storage, in milliseconds. */
const INTERVAL = 500;

beforeEach(controlClock);

const openEmpty = (path = temporaryFile()) => openWatched(path, 0);

async function* batchOf(...pets: NewPet[]): AsyncGenerator<readonly NewPet[]> {
  yield pets;
}

describe('a file that is not the open one', () => {
  test('is reported once, and once more when the open file is back', async () => {
    const { storage, path, states } = await openEmpty();
    await storage.pets.add(REX);
    await storage.check();
    renameSync(path, `${path}.old`);
    for (let times = 0; times < 3; times++) {
      await expect(storage.pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await expect(storage.check()).rejects.toMatchObject({ reason: 'file_missing' });
    }
    writeFileSync(path, 'something else');
    await expect(storage.pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(storage.check()).rejects.toMatchObject({ reason: 'file_replaced' });
    renameSync(`${path}.old`, path);
    expect((await storage.pets.add(REX)).id).toBe(2n);
    await storage.check();
    expect(states).toEqual(['file_missing', 'file_replaced', undefined]);
  });

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

  test('refuses an import', async () => {
    const { storage, path } = await openEmpty();
    expect(await storage.transfer.importPets(batchOf(REX), NO_DUPLICATES)).toBe(1);
    rmSync(path);
    await expect(storage.transfer.importPets(batchOf(REX), NO_DUPLICATES)).rejects.toMatchObject({
      reason: 'file_missing',
    });
    expect(existsSync(path)).toBe(false);
  });

  test('refuses an import that began before', async () => {
    const { storage, path } = await openEmpty();
    await storage.pets.add(REX);
    const renamed = (async function* () {
      yield [REX];
      renameSync(path, `${path}.old`);
      yield [REX];
    })();
    await expect(storage.transfer.importPets(renamed, NO_DUPLICATES)).rejects.toMatchObject({
      reason: 'file_missing',
    });
  });
});

describe('a file that another connection changes', () => {
  test.each([
    ['VACUUM makes smaller', 'DELETE FROM pets WHERE id > 10; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)'],
    ['an UPDATE makes larger', `UPDATE pets SET name = hex(zeroblob(120)); PRAGMA wal_checkpoint(TRUNCATE)`],
  ])('%s still accepts adds', async (_, sql) => {
    const { storage, path, states } = await openEmpty();
    await storage.transfer.importPets(batchOf(...Array.from({ length: 3000 }, () => REX)), NO_DUPLICATES);
    const other = connect(path);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await storage.pets.add(REX);
    const { size } = statSync(path);
    other.exec(sql);
    expect(statSync(path).size).not.toBe(size);
    const pet = await storage.pets.add(REX);
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    await storage.check();
    expect(states).toEqual([]);
  });
});

describe('a read that fails', () => {
  test('is repeated by checks until it succeeds, and nothing else ends the fault', async () => {
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
});

describe('check', () => {
  test('writes nothing while writing works, however often it is called', async () => {
    const { storage, path } = await openEmpty();
    await storage.pets.add(REX);
    const other = connect(path);
    const before = other.pragma('data_version', { simple: true });
    for (let times = 0; times < 4; times++) {
      await Promise.all(Array.from({ length: 100 }, () => storage.check()));
      vi.advanceTimersByTime(INTERVAL);
    }
    expect(other.pragma('data_version', { simple: true })).toBe(before);
  });

  test('shares one test of the storage with the other checks of half a second', async () => {
    const health = openHealth();
    const probe = vi.fn(async () => {});
    await Promise.all([health.check(probe), health.check(probe)]);
    vi.advanceTimersByTime(INTERVAL - 1);
    await health.check(probe);
    expect(probe).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    await health.check(probe);
    expect(probe).toHaveBeenCalledTimes(2);
  });

  test('neither waits for the lock of another process nor reports it', async () => {
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

  test('a store without free ids is ready again when ids are free', async () => {
    const path = newStore(1);
    const setLastId = (id: bigint) =>
      connect(path).exec(`UPDATE sqlite_sequence SET seq = ${id} WHERE name = 'pets'`);
    setLastId(INT64_MAX);
    const { storage, states } = await openEmpty(path);
    await expect(storage.check()).rejects.toMatchObject({ reason: 'ids_exhausted' });
    await expect(storage.pets.add(REX)).rejects.toMatchObject({ reason: 'ids_exhausted' });
    setLastId(INT64_MAX - 1n);
    vi.advanceTimersByTime(INTERVAL);
    await storage.check();
    expect(states.at(-1)).toBeUndefined();
  });
});

describe('the faults of a storage', () => {
  const fault = (reason: StorageFaultReason) => new StorageFault(reason, reason, { cause: '' });
  const changed = { changes: 1, rowId: 7n };
  let reported: unknown[];
  let health: Health;

  beforeEach(() => {
    reported = [];
    health = openHealth(undefined, { onStorageState: (state) => reported.push(state?.reason) });
  });

  test('a failed fsync stays until a restart, other failures end', () => {
    health.reportFailure('write', fault('disk_full'));
    expect(health.needsTestWrite).toBe(true);
    health.reportSuccess('write');
    expect(health.needsTestWrite).toBe(false);
    health.reportFailure('write', fault('damaged'));
    health.reportSuccess('write');
    expect(health.syncFault).toBeUndefined();
    health.reportFailure('write', fault('sync_failed'));
    health.reportFailure('write', fault('io_error'));
    health.reportSuccess('write');
    expect(health.syncFault?.reason).toBe('sync_failed');
    expect(health.needsTestWrite).toBe(false);
    expect(reported).toEqual(['disk_full', undefined, 'damaged', 'sync_failed']);
  });

  test('a failure without a reason is not a fault', () => {
    health.reportFailure('read', new AnimalStoreError('internal_error', 'an error'));
    health.reportWrites([plainError(new Error('an error'))]);
    health.reportProbe({ failure: plainError(new Error('an error')), testWrites: [] });
    expect(reported).toEqual([]);
  });

  test('the most important fault is reported, and the next one when it ends', () => {
    health.reportFailure('write', fault('disk_full'));
    health.reportFailure('files', fault('file_missing'));
    health.reportFailure('read', fault('damaged'));
    health.reportSuccess('write');
    health.reportSuccess('files');
    health.reportSuccess('read');
    expect(reported).toEqual(['disk_full', 'file_missing', 'damaged', undefined]);
  });

  test('a removed or replaced file is a fault of the files, whatever has found it', () => {
    for (const reason of ['file_missing', 'file_replaced'] as const) {
      health.reportWrites([plainError(fault(reason))]);
      expect(health.needsTestWrite).toBe(false);
      health.reportProbe({ testWrites: [] });
      health.reportProbe({ failure: plainError(fault(reason)), testWrites: [] });
      health.reportProbe({ testWrites: [] });
    }
    expect(reported).toEqual([
      ...['file_missing', undefined, 'file_missing', undefined],
      ...['file_replaced', undefined, 'file_replaced', undefined],
    ]);
  });

  test('writes end them when one has changed something and none has found a fault', () => {
    const full = plainError(fault('disk_full'));
    health.reportWrites([changed, full]);
    health.reportWrites([]);
    health.reportWrites([{ changes: 0, rowId: 0n }]);
    health.reportWrites([plainError(new Error('refused'))]);
    expect(reported).toEqual(['disk_full']);
    health.reportWrites([plainError(new Error('refused')), changed]);
    expect(reported).toEqual(['disk_full', undefined]);
    health.reportFailure('files', fault('file_missing'));
    health.reportWrites([changed]);
    expect(reported).toEqual(['disk_full', undefined, 'file_missing', undefined]);
  });

  test('a test of the storage ends the fault of the last test, and its writes that of writing', () => {
    health.reportFailure('write', fault('disk_full'));
    health.reportProbe({ failure: plainError(fault('read_only')), testWrites: [] });
    health.reportProbe({ testWrites: [] });
    health.reportProbe({ testWrites: [plainError(fault('io_error'))] });
    health.reportProbe({ testWrites: [changed, changed] });
    expect(reported).toEqual(['disk_full', 'read_only', 'disk_full', 'io_error', undefined]);
  });
});
