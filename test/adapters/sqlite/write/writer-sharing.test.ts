import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessagePort, type Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSqliteStorage } from '../../../../src/adapters/sqlite/index.ts';
import type { WriterSharing } from '../../../../src/adapters/sqlite/write/protocol.ts';
import type { Commit } from '../../../../src/application/ports/observer.ts';
import type { Storage } from '../../../../src/application/ports/storage.ts';
import { stopClock, until } from '../../../support/clock.ts';
import { connect } from '../../../support/sqlite.ts';
import { REX, temporaryFile } from '../temporary-file.ts';
import { addMany, assertStored, outcomesOf, startedThreads } from '../warm-storage.ts';

interface Shared {
  readonly path: string;
  /** The first storage has started the writer thread, which the others share. */
  readonly storages: readonly Storage[];
  readonly commits: Commit[];
  readonly threads: Worker[];
}

/** Opens several storages that share a writer thread. Unlike those of a server, they are in the same thread. */
function openShared(count: number): Shared {
  const shared = { path: temporaryFile(), commits: [] as Commit[], threads: startedThreads() };
  let sendPort = (_port: MessagePort): void => {};
  const onOpen = (attachPort: typeof sendPort): void => {
    sendPort = attachPort;
  };
  const open = (sharing: WriterSharing): Storage =>
    openSqliteStorage(shared.path, {
      observer: { onCommit: (commit) => shared.commits.push(commit) },
      sharing,
    });
  const first = open({ threads: count, onOpen });
  const others = Array.from({ length: count - 1 }, () =>
    open({ threads: count, sendPort: (port) => sendPort(port) }),
  );
  onTestFinished(async () => {
    await Promise.all(others.map((storage) => storage.close()));
    await first.close();
  });
  return { ...shared, storages: [first, ...others] };
}

test('batches that wait at the same time share one transaction, which one of the storages reports', async () => {
  const { path, storages, commits, threads } = openShared(3);
  await Promise.all(storages.map((storage) => storage.check()));
  const other = connect(path);
  stopClock();
  // When this thread is slow, the lock lasts longer than the writer thread waits for it, and each batch is sent again.
  await until(async () => {
    commits.length = 0;
    other.exec('BEGIN IMMEDIATE');
    const adds = storages.map(({ pets }) => pets.add(REX));
    // Each storage sends its batch in this turn.
    await nextTurn();
    other.exec('COMMIT');
    expect(new Set((await Promise.all(adds)).map(({ id }) => id)).size).toBe(3);
    await nextTurn();
    expect(commits.reduce((sum, { writes }) => sum + writes, 0)).toBe(3);
    return commits.length < 3;
  });
  expect(threads).toHaveLength(1);
});

test('a write that fails does not affect the writes of another storage in the same transaction', async () => {
  const { storages } = openShared(2);
  const [first, second] = storages as [Storage, Storage];
  const adds = [first.pets.add(REX), second.pets.add({ ...REX, name: null as unknown as string })];
  const [added, refused] = await Promise.allSettled(adds);
  expect(refused?.status).toBe('rejected');
  expect(added?.status).toBe('fulfilled');
  expect((await second.pets.list({ limit: 10 })).pets).toHaveLength(1);
});

test('when the writer thread exits, every storage rejects the writes in flight, and stores the next ones', async () => {
  const { storages, threads } = openShared(3);
  await Promise.all(storages.map(({ pets }) => pets.add(REX)));
  const outcomes = storages.map((storage) => outcomesOf(addMany(storage, 1000)));
  await nextTurn();
  await nextTurn();
  await threads.at(-1)?.terminate();
  const [first, ...others] = storages as [Storage, ...Storage[]];
  for (const [index, { added, codes }] of (await Promise.all(outcomes)).entries()) {
    expect(added.length + codes.length).toBe(1000);
    expect(codes.every((code) => code === 'storage_unavailable')).toBe(true);
    await assertStored(storages[(index + 1) % storages.length] as Storage, added);
  }
  for (const storage of [...others, first]) await assertStored(first, [await storage.pets.add(REX)]);
  expect(threads).toHaveLength(2);
  await Promise.all(storages.map((storage) => storage.check()));
});

test('when the writer thread does not start, every storage says that nothing was stored, until it starts', async () => {
  const end = (thread: Worker) => void thread.terminate();
  process.on('worker', end);
  onTestFinished(() => void process.off('worker', end));
  const { storages } = openShared(3);
  const message = expect.stringContaining('nothing was stored, because the writer thread cannot start');
  for (const storage of storages.toReversed()) {
    await expect(storage.pets.add(REX)).rejects.toMatchObject({ message });
    await expect(storage.check()).rejects.toMatchObject({ reason: 'not_responding' });
  }
  process.off('worker', end);
  for (const storage of storages) {
    await assertStored(storage, [await storage.pets.add(REX)]);
    await storage.check();
  }
});

test('the storages divide the limits of the write queue and of a batch', async () => {
  const { storages, commits } = openShared(2);
  stopClock();
  const { added, codes } = await outcomesOf(addMany(storages[1] as Storage, 5001));
  expect(added).toHaveLength(5000);
  expect(codes).toEqual(['overloaded']);
  expect(commits.map(({ writes }) => writes)).toEqual(Array(10).fill(500));
});

test('a storage that shares the thread of another one is closed at once, and the other one stays open', async () => {
  const { storages, threads } = openShared(2);
  const [first, second] = storages as [Storage, Storage];
  await second.pets.add(REX);
  const closePort = vi.spyOn(MessagePort.prototype, 'close');
  onTestFinished(() => closePort.mockRestore());
  // The close would wait for a thread until a timeout, which a stopped clock never reaches.
  stopClock();
  await second.close();
  expect(closePort).toHaveBeenCalledTimes(1);
  await assertStored(first, [await first.pets.add(REX)]);
  expect(threads).toHaveLength(1);
});
