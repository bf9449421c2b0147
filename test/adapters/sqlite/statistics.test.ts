import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { stopClock } from '../../support/clock.ts';
import { openStorage } from './temporary-file.ts';

const ABOUT = { name: 'ci', prefix: 'pets_x', createdAt: 1 };
const QUERY = { limit: 10 };

/** The maximum number of cached keys. */
const CACHED_KEYS = 1000;

function statisticsOf(storage: Storage) {
  return storage.statistics?.();
}

test('of the reads of equal pages, the first after a write is a miss, and the others are hits, also in its turn', async () => {
  const storage = openStorage();
  const { pets } = storage;
  expect(statisticsOf(storage)).toMatchObject({ pages: { hits: 0, misses: 0 }, waitingWrites: 0 });
  await Promise.all([pets.list(QUERY), pets.list(QUERY), pets.list(QUERY)]);
  expect(statisticsOf(storage)).toMatchObject({ pages: { hits: 2, misses: 1 } });
  await pets.list(QUERY);
  await pets.list({ limit: 11 });
  expect(statisticsOf(storage)).toMatchObject({ pages: { hits: 3, misses: 2 } });
  const added = pets.add({ name: 'Rex', categoryId: 7n, status: 'available' });
  expect(statisticsOf(storage)).toMatchObject({ waitingWrites: 1 });
  await added;
  await pets.list(QUERY);
  expect(statisticsOf(storage)).toMatchObject({ pages: { hits: 3, misses: 3 }, waitingWrites: 0 });
  expect(statisticsOf(storage)?.busySeconds?.['writer']).toBeGreaterThan(0);
  expect(statisticsOf(storage)?.busySeconds?.['writer']).toBeLessThan(60);
});

test('keys are cached until their number reaches the limit', async () => {
  const storage = openStorage();
  const { apiKeys } = storage;
  stopClock();
  const keys = Array.from({ length: CACHED_KEYS + 1 }, (_, index) => `key ${index}`);
  await Promise.all(keys.map((key) => apiKeys.add(key, ABOUT)));
  await nextTurn();
  const last = keys.pop() as string;
  const findAll = () => Promise.all(keys.map((key) => apiKeys.find(key)));
  await findAll();
  expect(statisticsOf(storage)).toMatchObject({ keys: { hits: 0, misses: CACHED_KEYS } });
  await findAll();
  expect(statisticsOf(storage)).toMatchObject({ keys: { hits: CACHED_KEYS, misses: CACHED_KEYS } });
  await apiKeys.find(last);
  await apiKeys.find(last);
  await apiKeys.find(keys[0] as string);
  expect(statisticsOf(storage)).toMatchObject({
    keys: { hits: CACHED_KEYS + 1, misses: CACHED_KEYS + 2 },
  });
});
