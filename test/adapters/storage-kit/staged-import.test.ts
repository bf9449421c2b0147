import { beforeEach, expect, test } from 'vitest';
import { importStaged, type StagingTable } from '../../../src/adapters/storage-kit/staged-import.ts';
import { INT64_MIN } from '../../../src/domain/int64.ts';
import type { NewPet, Pet } from '../../../src/domain/pet.ts';
import { withRequired } from '../../support/pets.ts';

const REX: NewPet = withRequired({ name: 'Rex', categoryId: 1n, status: 'available' });

let calls: unknown[];
let staged: (NewPet | Pet)[];

/** A table that copies two pets at a time, and takes the number of the pets before it as the place of a pet. */
const table: StagingTable = {
  async stagePets(pets) {
    calls.push(['stage', pets.length]);
    const duplicates = pets.filter((pet): pet is Pet => 'id' in pet && pet.id === 9n);
    staged.push(...pets.slice(duplicates.length));
    return duplicates;
  },
  async refuseIdsInUse() {
    calls.push('refuse');
  },
  async begin(withIds) {
    calls.push(['begin', withIds]);
  },
  async copyPets(withIds, after) {
    calls.push(['copy', withIds, after]);
    const count = staged.splice(0, 2).length;
    return count === 0 ? null : [BigInt(staged.length), count];
  },
  async commit(withIds, count) {
    calls.push(['commit', withIds, count]);
  },
};

async function* batches(...sizes: readonly number[]): AsyncGenerator<readonly NewPet[]> {
  for (const size of sizes) yield Array.from({ length: size }, () => REX);
}

const options = { onDuplicateId: () => expect.unreachable() };

beforeEach(() => {
  calls = [];
  staged = [];
});

test('pets without ids are staged, and copied in steps in one transaction', async () => {
  const progress: number[] = [];
  const onProgress = (count: number) => progress.push(count);
  expect(await importStaged(table, batches(0, 2, 1), { ...options, onProgress })).toBe(3);
  expect(calls).toEqual([
    ['stage', 2],
    ['stage', 1],
    ['begin', false],
    ['copy', false, INT64_MIN],
    ['copy', false, 1n],
    ['copy', false, 0n],
    ['commit', false, 3],
  ]);
  expect(progress).toEqual([2, 3]);
});

test('ids in use are refused before the first batch, and again in the transaction; duplicates are reported', async () => {
  const pet = (id: bigint): Pet => ({ id, ...REX });
  const duplicates: Pet[] = [];
  const all = (async function* () {
    yield [pet(9n), pet(1n)];
    yield [pet(2n)];
  })();
  await importStaged(table, all, { onDuplicateId: (duplicate) => duplicates.push(duplicate) });
  expect(duplicates).toEqual([pet(9n)]);
  expect(calls).toEqual([
    'refuse',
    ['stage', 2],
    ['stage', 1],
    ['begin', true],
    'refuse',
    ['copy', true, INT64_MIN],
    ['copy', true, 0n],
    ['commit', true, 2],
  ]);
});

test('an abort ends the import before the next batch, and before the next step', async () => {
  const reason = new Error('enough');
  const aborted = importStaged(table, batches(1), { ...options, signal: AbortSignal.abort(reason) });
  await expect(aborted).rejects.toBe(reason);
  expect(calls).toEqual([]);
  const controller = new AbortController();
  const onProgress = () => controller.abort(reason);
  const late = importStaged(table, batches(3), { ...options, signal: controller.signal, onProgress });
  await expect(late).rejects.toBe(reason);
  expect(calls.at(-1)).toEqual(['copy', false, INT64_MIN]);
});

test('an import of nothing commits nothing', async () => {
  expect(await importStaged(table, batches(), options)).toBe(0);
  expect(calls).toEqual([
    ['begin', false],
    ['copy', false, INT64_MIN],
    ['commit', false, 0],
  ]);
});
