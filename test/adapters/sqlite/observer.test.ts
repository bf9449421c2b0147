import { expect, test } from 'vitest';
import type { Commit } from '../../../src/application/ports/observer.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { NewPet } from '../../../src/domain/pet.ts';
import { NO_DUPLICATES, openStorage, REX, temporaryFile } from './temporary-file.ts';

/** A storage, and the commits that it reported. */
function openObserved(path = temporaryFile()): { storage: Storage; commits: Commit[] } {
  const commits: Commit[] = [];
  const storage = openStorage(path, { observer: { onCommit: (commit) => commits.push(commit) } });
  return { storage, commits };
}

async function* batchOf(...pets: NewPet[]): AsyncGenerator<readonly NewPet[]> {
  yield pets;
}

test('onCommit is called for an import, once', async () => {
  const { storage, commits } = openObserved();
  await storage.transfer.importPets(batchOf(REX, REX, REX), NO_DUPLICATES);
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
