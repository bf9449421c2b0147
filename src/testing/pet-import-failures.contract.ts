/**
 * The tests (contract cases) of `PetTransfer` for imports that fail. They check that nothing is stored after a failed
 * import, and that the store still works.
 */

import assert from 'node:assert/strict';
import type { NewPet, Pet } from '../domain/pet.ts';
import { type ContractCase, contractCase, type Subject } from './contract.ts';
import { addAll, samplePet, samplePets, walk } from './fixtures/pets.ts';
import {
  exported,
  importPets,
  inBatches,
  oneByOne,
  petWithId,
  type TransferStore,
  withoutId,
} from './fixtures/transfers.ts';

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
    failing('an abort between two batches', samplePets(4), importAborted),
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

function importAborted(store: TransferStore): Promise<unknown> {
  const controller = new AbortController();
  const batches = oneByOne([samplePets(5), samplePets(5), samplePets(5)], (index) => {
    if (index === 1) controller.abort(REASON);
  });
  return importPets(store, batches, { signal: controller.signal });
}
