/** The operations that import and export pets. */

import assert from 'node:assert/strict';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { SAMPLE_FILTERS } from '../fixtures/filters.ts';
import { walk } from '../fixtures/pets.ts';
import { exported, inBatches, oneByOne, petWithId } from '../fixtures/transfers.ts';
import { type Operation, pick } from './operation.ts';
import { assertAdded, randomPet } from './pet-operations.ts';

const REASON = new Error('the reason of the failure');

export const TRANSFER_OPERATIONS: Readonly<Record<string, Operation>> = {
  'import pets': {
    part: 'transfer',
    weight: 2,
    outcomes: ['stored', 'failed'],
    async run({ storage, model, random }) {
      const { transfer = assert.fail(), pets } = storage;
      const inputs = Array.from({ length: random(20) }, () => randomPet(random));
      const options = { onDuplicateId: () => assert.fail() };
      if (random(3) === 0) {
        const batches = oneByOne([inputs, inputs], (index) => {
          if (index === 1) throw REASON;
        });
        await assert.rejects(transfer.importPets(batches, options), REASON);
        return 'failed';
      }
      assert.equal(await transfer.importPets(inBatches(inputs, 1 + random(10)), options), inputs.length);
      const added = await walk(pets, { limit: 100, after: model.lastId });
      assert.equal(added.length, inputs.length);
      for (const [index, pet] of added.entries()) model.add(assertAdded(pet, inputs[index] as NewPet, model));
      return 'stored';
    },
  },

  'import pets with ids': {
    part: 'transfer',
    weight: 1,
    outcomes: ['stored', 'refused'],
    async run({ storage, model, random }) {
      const { transfer = assert.fail() } = storage;
      const inputs = Array.from({ length: 1 + random(10) }, () => petWithId(BigInt(1 + random(12))));
      const duplicates: Pet[] = [];
      const onDuplicateId = (pet: Pet) => duplicates.push(pet);
      const importing = transfer.importPets(inBatches(inputs, 1 + random(5)), { onDuplicateId });
      if (model.lastId > 0n) {
        await assert.rejects(importing, { code: 'invalid_request' });
        return 'refused';
      }
      const stored = [...new Map(inputs.map((pet) => [pet.id, pet])).values()];
      assert.equal(await importing, stored.length);
      assert.equal(duplicates.length, inputs.length - stored.length);
      model.add(...stored.sort((a, b) => (a.id < b.id ? -1 : 1)));
      return 'stored';
    },
  },

  'export pets': {
    part: 'transfer',
    weight: 1,
    outcomes: ['exported'],
    async run({ storage, model, random }) {
      const { transfer = assert.fail() } = storage;
      const filter = pick(random, SAMPLE_FILTERS);
      assert.deepEqual(await exported(transfer, filter), model.list({ ...filter, limit: Infinity }).pets);
      return 'exported';
    },
  },
};
