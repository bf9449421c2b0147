import { expect, test } from 'vitest';
import type { Commit } from '../../../src/application/ports/observer.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { openStorage, REX } from './temporary-file.ts';

test('onCommit is called for an import, once', async () => {
  const commits: Commit[] = [];
  const storage = openStorage(undefined, { observer: { onCommit: (commit) => commits.push(commit) } });
  await importPets(storage, inBatches([REX, REX, REX]));
  expect(commits).toEqual([{ writes: 3, ms: expect.any(Number) }]);
});

test('of the reads of equal pages, the first after a write is a miss, and the others are hits, also in its turn', async () => {
  const { pets, statistics } = openStorage();
  const query = { limit: 10 };
  await Promise.all([pets.list(query), pets.list(query), pets.list(query)]);
  expect(statistics?.()).toMatchObject({ pages: { hits: 2, misses: 1 } });
  const added = pets.add(REX);
  expect(statistics?.()).toMatchObject({ waitingWrites: 1 });
  await added;
  expect(statistics?.().logBytes).toBeGreaterThan(0);
  await pets.list(query);
  expect(statistics?.()).toMatchObject({ pages: { hits: 2, misses: 2 }, waitingWrites: 0 });
  expect(statistics?.().busySeconds?.['writer']).toBeGreaterThan(0);
});
