/** All operations of the random sequences. Each is called on the storage and on the model, and its results are compared. */

import assert from 'node:assert/strict';
import { assertVersion } from '../fixtures/attempts.ts';
import { assertSameKey, attributesOf } from '../fixtures/keys.ts';
import { walk } from '../fixtures/pets.ts';
import { CHANGE_OPERATIONS } from './change-operations.ts';
import { KEY_OPERATIONS } from './key-operations.ts';
import type { Operation, World } from './operation.ts';
import { PET_OPERATIONS } from './pet-operations.ts';
import { TRANSFER_OPERATIONS } from './transfer-operations.ts';

/** The operations by name. Each one says which part of a storage it needs, and which outcomes must occur. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...PET_OPERATIONS,
  ...CHANGE_OPERATIONS,
  ...TRANSFER_OPERATIONS,
  ...KEY_OPERATIONS,

  'open the store again': {
    part: 'reopen',
    weight: 1,
    outcomes: ['opened'],
    async run({ reopen }) {
      await reopen();
      return 'opened';
    },
  },
};

/** Compares the contents of a storage with the model. The pet that was written last, and some of the keys, are also looked up. */
export async function assertSameState({ storage, model, random }: World): Promise<void> {
  const { pets, changes, apiKeys, idempotencyRecords } = storage;
  assert.deepEqual(await walk(pets, { limit: 100 }), model.pets);
  const [id = 1n, last] = [...model.versions].find(([, { revision }]) => revision === model.lastId) ?? [];
  assert.deepEqual(await pets.find(id), last?.pet);
  if (changes && last) assertVersion(await changes.find(id), last.pet, last.revision);
  if (apiKeys !== undefined) {
    assert.deepEqual((await apiKeys.list()).map(attributesOf), [...model.keys.values()].map(attributesOf));
    const names = [...model.keys.keys()];
    const found = names.filter((_, index) => index === names.length - 1 || random(8) === 0);
    for (const key of found) assertSameKey(await apiKeys.find(key), model.keys.get(key));
  }
  // Without `idempotencyRecords`, the records cannot be counted: only a replay shows that a record exists.
  if (idempotencyRecords !== undefined) assert.equal(await idempotencyRecords.count(), model.records.size);
}
