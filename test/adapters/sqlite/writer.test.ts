import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';
import { addMany, outcomesOf, startedThreads } from './warm-storage.ts';

test('when the thread exits during adds, each add is stored or rejects', async () => {
  const threads = startedThreads();
  const storage = openStorage();
  await storage.pets.add(REX);
  const outcomes = outcomesOf(addMany(storage, 3000));
  await nextTurn();
  await threads[0]?.terminate();
  const { added, codes } = await outcomes;
  expect(codes.length).toBeGreaterThan(0);
  expect(new Set(codes)).toEqual(new Set(['storage_unavailable']));
  expect(added.length + codes.length).toBe(3000);
  const next = await storage.pets.add(REX);
  for (const { id } of added) expect(id).toBeLessThan(next.id);
  for (const pet of [...added, next]) expect(await storage.pets.find(pet.id)).toEqual(pet);
});

test('a write that cannot be sent to the thread rejects, and later ones are stored', async () => {
  const storage = openStorage();
  const caller = (() => {}) as never;
  const adding = storage.idempotentCreates.add(REX, { caller, key: 'a', validFor: 1 });
  await expect(adding).rejects.toThrow('could not be cloned');
  expect(await storage.pets.add(REX)).toMatchObject(REX);
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
