/** The tests (contract cases) of `PetTransfer` for imports. */

import assert from 'node:assert/strict';
import { INT64_MAX } from '../domain/int64.ts';
import type { NewPet, Pet } from '../domain/pet.ts';
import { type ContractCase, contractCase, contractCases, type Subject } from './contract.ts';
import { filtersOf } from './fixtures/filters.ts';
import { addAll, assertAscending, byId, labelOf, samplePet, samplePets, walk } from './fixtures/pets.ts';
import {
  exported,
  importPets,
  inBatches,
  oneByOne,
  petWithId,
  type TransferStore,
  withoutId,
} from './fixtures/transfers.ts';

export function importingPets(subject: Subject<TransferStore>): ContractCase[] {
  return contractCases(subject, {
    'pets without ids get new ids in their order, and progress counts them': async (store) => {
      const before = await addAll(store.pets, samplePets(3));
      const imported = samplePets(1200);
      const counts: number[] = [];
      const onProgress = (count: number) => counts.push(count);
      assert.equal(await importPets(store, inBatches(imported, 500), { onProgress }), 1200);
      assert.equal(counts.at(-1), 1200);
      const ascending = counts.toSorted((a, b) => a - b);
      assert.deepEqual(counts, ascending);
      const all = await walk(store.pets, { limit: 100 });
      assertAscending(all);
      assert.deepEqual(all.slice(0, 3), before);
      assert.deepEqual(all.slice(3).map(withoutId), imported);
    },

    'pets with ids keep them in any order, up to the greatest id': async (store) => {
      const imported = [petWithId(7n), petWithId(INT64_MAX - 1n), petWithId(2n), petWithId(2n ** 53n + 1n)];
      assert.equal(await importPets(store, inBatches(imported, 2)), 4);
      assert.deepEqual(await exported(store.transfer), imported.toSorted(byId));
      assert.deepEqual(await store.pets.find(2n ** 53n + 1n), imported[3]);
      assert.equal((await store.pets.add(samplePet('last'))).id, INT64_MAX);
      await assert.rejects(store.pets.add(samplePet('Rex')), { code: 'storage_unavailable' });
      await assert.rejects(importPets(store, inBatches(samplePets(1))), { code: 'storage_unavailable' });
    },

    'an import without pets stores nothing, and its progress ends at 0': async (store) => {
      const counts: number[] = [];
      const onProgress = (count: number) => counts.push(count);
      for (const batches of [[], [[], []]])
        assert.equal(await importPets(store, oneByOne(batches), { onProgress }), 0);
      assert.deepEqual(counts, [0, 0]);
      assert.deepEqual(await exported(store.transfer), []);
    },

    'a read that starts after an import was acknowledged sees its pets': async (store) => {
      const { pets } = store;
      const pet = samplePet('Rex');
      const filters = filtersOf(pet);
      for (const count of [1, 2, 3]) {
        for (const filter of filters) await pets.list({ ...filter, limit: 100 });
        await importPets(store, inBatches([pet]));
        for (const filter of filters)
          assert.equal((await pets.list({ ...filter, limit: 100 })).pets.length, count);
      }
    },

    'no read sees a pet before all are stored': async (store) => {
      const assertEmpty = async () => assert.deepEqual((await store.pets.list({ limit: 1 })).pets, []);
      const batches = (async function* () {
        for (let times = 0; times < 3; times++) {
          yield samplePets(500);
          await assertEmpty();
        }
      })();
      await importPets(store, batches);
      assert.equal((await exported(store.transfer)).length, 1500);
    },

    'others can add pets while a batch is awaited': async (store) => {
      const batches = (async function* () {
        yield samplePets(2);
        await store.pets.add(samplePet('between'));
        yield samplePets(2);
      })();
      await importPets(store, batches);
      const labels = (await walk(store.pets, { limit: 100 })).map(labelOf);
      const expected = [samplePet('between'), ...samplePets(2), ...samplePets(2)].map(labelOf);
      assert.deepEqual(labels.toSorted(), expected.toSorted());
    },

    'a pet with a duplicate id is reported and left out': async (store) => {
      const [again, late] = [petWithId(1n, 'again'), petWithId(1n, 'late')];
      const batches = [[petWithId(1n), again], [petWithId(2n), late], [petWithId(3n)]];
      const duplicates: unknown[] = [];
      let requested = 0;
      const counted = oneByOne(batches, () => {
        requested += 1;
      });
      const onDuplicateId = (pet: Pet) => duplicates.push(pet, requested);
      assert.equal(await importPets(store, counted, { onDuplicateId }), 3);
      assert.deepEqual(duplicates, [again, 1, late, 2]);
      assert.ok(duplicates[0] === again && duplicates[2] === late, 'expected the objects from the batches');
      assert.deepEqual(await exported(store.transfer), [petWithId(1n), petWithId(2n), petWithId(3n)]);
    },
  });
}

const REASON = new Error('the reason of the failure');

export function failingImports(subject: Subject<TransferStore>): ContractCase[] {
  const failing = (
    name: string,
    before: readonly NewPet[],
    attempt: (store: TransferStore) => Promise<unknown>,
    expected: object = REASON,
  ): ContractCase =>
    contractCase(subject, `nothing is stored after ${name}`, async (store) => {
      await addAll(store.pets, before);
      const state = await exported(store.transfer);
      await assert.rejects(attempt(store), expected);
      assert.deepEqual(await exported(store.transfer), state);
      const added = await store.pets.add(samplePet('after'));
      assert.deepEqual(await exported(store.transfer), [...state, added]);
      await importPets(store, inBatches(samplePets(2)));
      assert.equal((await walk(store.pets, { limit: 100 })).length, state.length + 3);
    });
  const idInUse = { code: 'invalid_request' };

  return [
    failing('a batch that fails', samplePets(4), (store) => importPets(store, failingAfter(samplePets(5)))),
    failing('a batch with ids that fails', [], (store) => importPets(store, failingAfter([petWithId(5n)]))),
    failing('an abort between two batches', samplePets(4), (store) => {
      const controller = new AbortController();
      const batches = oneByOne([samplePets(5), samplePets(5), samplePets(5)], (index) => {
        if (index === 1) controller.abort(REASON);
      });
      return importPets(store, batches, { signal: controller.signal });
    }),
    failing('an abort before the import', [], (store) =>
      importPets(store, inBatches(samplePets(3)), { signal: AbortSignal.abort(REASON) }),
    ),
    failing('an abort after the last batch', samplePets(4), (store) => {
      const controller = new AbortController();
      const { signal } = controller;
      const onProgress = () => controller.abort(REASON);
      return importPets(store, inBatches(samplePets(3)), { signal, onProgress });
    }),
    failing('an exception in onProgress', samplePets(4), (store) =>
      importPets(store, inBatches(samplePets(3)), { onProgress: fail }),
    ),
    failing('an exception in onDuplicateId', [], (store) =>
      importPets(store, inBatches([petWithId(1n), petWithId(2n), petWithId(1n)]), { onDuplicateId: fail }),
    ),
    failing(
      'an import of ids into a store that has a pet',
      samplePets(1),
      (store) => importPets(store, inBatches([petWithId(9n)])),
      idInUse,
    ),
    contractCase(subject, 'nothing is stored when a pet is added during an import of ids', async (store) => {
      const batches = (async function* () {
        yield [petWithId(1n), petWithId(2n)];
        await store.pets.add(samplePet('first'));
      })();
      await assert.rejects(importPets(store, batches), idInUse);
      const stored = await walk(store.pets, { limit: 100 });
      assert.deepEqual(stored.map(withoutId), [samplePet('first')]);
    }),
  ];
}

function fail(): never {
  throw REASON;
}

function failingAfter(batch: readonly (NewPet | Pet)[]): AsyncIterable<readonly (NewPet | Pet)[]> {
  return oneByOne([batch, batch], (index) => {
    if (index === 1) fail();
  });
}
