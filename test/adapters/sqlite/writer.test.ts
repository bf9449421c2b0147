import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';
import { addMany, assertStored, openWarm, outcomesOf, startedThreads } from './warm-storage.ts';

describe('when the thread exits', () => {
  test('during adds, each add is stored or rejects', async () => {
    const { storage, thread } = await openWarm();
    const outcomes = outcomesOf(addMany(storage, 3000));
    await nextTurn();
    await thread.terminate();
    const { added, codes } = await outcomes;
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set(['storage_unavailable']));
    expect(added.length + codes.length).toBe(3000);
    await assertStored(storage, added);
    const next = await storage.pets.add(REX);
    for (const { id } of added) expect(id).toBeLessThan(next.id);
    await assertStored(storage, [next]);
  });

  test('a storage can be closed', async () => {
    const { storage, thread } = await openWarm();
    const outcomes = outcomesOf(addMany(storage, 1500));
    await nextTurn();
    const closing = storage.close();
    await thread.terminate();
    await closing;
    const { added, codes } = await outcomes;
    expect(added.length + codes.length).toBe(1500);
    expect(codes.length).toBeGreaterThan(0);
  });
});

test.each([
  [true, 1],
  [false, 0],
])('with `startWriter: %s`, opening a storage starts %i threads', async (startWriter, count) => {
  const started = startedThreads();
  const storage = openSqliteStorage(temporaryFile(), { startWriter });
  onTestFinished(() => storage.close());
  await nextTurn();
  expect(started).toHaveLength(count);
  await storage.pets.add(REX);
  expect(started).toHaveLength(1);
});

test('the thread keeps the process alive only while an add waits for its commit', async () => {
  const { storage, thread } = await openWarm();
  await nextTurn();
  const calls: string[] = [];
  vi.spyOn(thread, 'ref').mockImplementation(() => calls.push('ref'));
  vi.spyOn(thread, 'unref').mockImplementation(() => calls.push('unref'));
  const add = storage.pets.add(REX);
  await nextTurn();
  expect(calls).toEqual(['ref']);
  await add;
  await expect.poll(() => calls).toEqual(['ref', 'unref']);
});

test('close completes the accepted writes, also before the thread has started', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const adds = addMany(storage, 2500);
  await storage.close();
  const added = await Promise.all(adds);
  await assertStored(openStorage(path), added);
});
