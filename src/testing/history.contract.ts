/**
 * The tests (contract cases) of the order of calls, for any test runner: one order must explain the results of all calls to a
 * `StoreStorage`.
 */

import assert from 'node:assert/strict';
import { AnimalStore } from '../application/animal-store.ts';
import type { StoreStorage } from '../application/ports/storage.ts';
import { type ContractCase, contractCase, type Subject, twoClientCases } from './contract.ts';
import type { ChangingStore } from './fixtures/attempts.ts';
import { exercise } from './history/exercise.ts';
import { exerciseChanges } from './history/exercise-changes.ts';
import { exerciseKeys } from './history/exercise-keys.ts';
import { History } from './history/history.ts';

const CALLS = 60;
const SEEDS = [1, 2, 3];

type Exercise = (history: History, stores: readonly AnimalStore[]) => Promise<void>;

/**
 * Returns tests which assert that all creates and reads agree with the order of the ids and with real time (see
 * {@link History}). If `subject` has `openSecond`, the storage is also tested with two clients.
 */
export function historyContract(subject: Subject<StoreStorage>): ContractCase[] {
  return SEEDS.flatMap((seed) =>
    casesOf(subject, `creates and reads (seed ${seed})`, (history, stores) =>
      exercise(history, stores, { calls: CALLS, seed }),
    ),
  );
}

/**
 * Returns the tests of changes. The results of creates, changes and removals must fit the order of the revisions that these writes
 * got. Each read must return a version that this order allows. Clients that follow the feed of changes must miss
 * nothing. If `subject` has `openSecond` and no `visibilityTimeout`, the storage is also tested with two clients.
 */
export function changeHistoryContract(subject: Subject<ChangingStore>): ContractCase[] {
  const assertOneOrder = async (seed: number, ...stores: readonly ChangingStore[]) =>
    assert.equal(await exerciseChanges(stores, { calls: CALLS, seed }), undefined);
  return SEEDS.flatMap((seed) => {
    const calls = `creates, changes and removals (seed ${seed})`;
    const ofTwo = twoClientCases(subject, {
      [`${calls} of two clients fit one order`]: (first, second) => assertOneOrder(seed, first, second),
    });
    return [
      contractCase(subject, `${calls} fit one order`, (store) => assertOneOrder(seed, store)),
      ...(subject.visibilityTimeout === undefined ? ofTwo : []),
    ];
  });
}

/** Returns tests which assert that API keys are accepted from their creation to their revocation. */
export function keyHistoryContract(subject: Subject<StoreStorage>): ContractCase[] {
  return casesOf(subject, 'changes of API keys', exerciseKeys);
}

function casesOf(subject: Subject<StoreStorage>, calls: string, run: Exercise): ContractCase[] {
  const assertOneOrder = async (...storages: readonly StoreStorage[]) => {
    const history = new History();
    const stores = storages.map((storage) => new AnimalStore(storage));
    await run(history, stores);
    for (const store of stores) await store.close();
    assert.equal(history.contradiction(subject.visibilityTimeout), undefined);
  };
  return [
    contractCase(subject, `${calls} fit one order`, (storage) => assertOneOrder(storage)),
    ...twoClientCases(subject, {
      [`${calls} of two clients fit one order`]: (first, second) => assertOneOrder(first, second),
    }),
  ];
}
