import { expect, test } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { withRequired } from '../../support/pets.ts';
import { openStorage } from './temporary-file.ts';

const QUERY = { limit: 10 };

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
  const added = pets.add(withRequired({ name: 'Rex', categoryId: 7n, status: 'available' }));
  expect(statisticsOf(storage)).toMatchObject({ waitingWrites: 1 });
  await added;
  await pets.list(QUERY);
  expect(statisticsOf(storage)).toMatchObject({ pages: { hits: 3, misses: 3 }, waitingWrites: 0 });
  expect(statisticsOf(storage)?.busySeconds?.['writer']).toBeGreaterThan(0);
  expect(statisticsOf(storage)?.busySeconds?.['writer']).toBeLessThan(60);
});
