/** The operations that create, find and list pets, and the operation that removes idempotency records. */

import assert from 'node:assert/strict';
import { CREATE_REQUEST } from '../../application/ports/idempotent-changes.ts';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import { ATTRIBUTES, isSamePet, type NewPet, PET_ATTRIBUTES, type Pet } from '../../domain/pet.ts';
import { FEW_FILTERS } from '../fixtures/filters.ts';
import { HOUR } from '../fixtures/keys.ts';
import { labelOf, petWith, samplePet, sampleValues } from '../fixtures/pets.ts';
import { type Random, randomNumbers } from '../random.ts';
import type { Model } from './model.ts';
import { type Operation, pick } from './operation.ts';

export const PET_OPERATIONS: Readonly<Record<string, Operation>> = {
  'create a pet': {
    part: 'pets',
    weight: 4,
    outcomes: ['stored'],
    async run({ storage, model, random }) {
      const input = randomPet(random);
      model.add(assertAdded(await storage.pets.add(input), input, model));
      return 'stored';
    },
  },

  'create a pet once': {
    part: 'idempotentCreates',
    weight: 6,
    // `refused` is not in the list, because it occurs only on a storage with `idempotentChanges`.
    outcomes: ['stored', 'replayed'],
    async run({ storage, model, random }) {
      const { idempotentCreates = assert.fail() } = storage;
      const attempt = randomAttempt(random);
      const input = randomPet(random);
      const record = model.validRecord(attempt);
      const adding = idempotentCreates.add(input, attempt);
      if (record !== undefined && record.request !== CREATE_REQUEST) {
        await assert.rejects(adding, { code: 'idempotency_conflict' });
        return 'refused';
      }
      const { pet, isReplay } = await adding;
      assert.equal(isReplay, record !== undefined);
      if (record === undefined) {
        model.add(assertAdded(pet, input, model));
        model.record(pet, attempt);
      } else assert.deepEqual(pet, record.pet);
      return isReplay ? 'replayed' : 'stored';
    },
  },

  'get a pet': {
    part: 'pets',
    weight: 3,
    outcomes: ['found', 'not found'],
    async run({ storage, model, random }) {
      const id = randomId(model, random);
      const expected = model.pets.find((pet) => pet.id === id);
      assert.deepEqual(await storage.pets.find(id), expected);
      return expected === undefined ? 'not found' : 'found';
    },
  },

  'list pets': {
    part: 'pets',
    weight: 5,
    outcomes: ['more', 'no more'],
    async run({ storage, model, random }) {
      const after = random(3) === 0 ? undefined : randomId(model, random);
      const query = { ...pick(random, FEW_FILTERS), limit: pick(random, [1, 2, 5, 20, 100]), after };
      const expected = model.list(query);
      const { pets, more } = await storage.pets.list(query);
      assert.deepEqual({ pets, more }, expected);
      return more ? 'more' : 'no more';
    },
  },

  'remove records': {
    part: 'moveClock',
    weight: 2,
    outcomes: ['removed', 'nothing'],
    async run({ storage, model, random, moveClock }) {
      const hours = random(10);
      await moveClock(hours * HOUR);
      model.clock += hours * HOUR;
      const limit = 1 + random(4);
      const expected = model.removeRecords();
      // The storage decides which ended records a call removes. So the calls are repeated until no ended record is left.
      for (let left = expected; ; left -= limit) {
        const removed = await storage.idempotencyRecords?.removeRecords(limit);
        assert.equal(removed, Math.min(left, limit));
        if (left < limit) return expected > 0 ? 'removed' : 'nothing';
      }
    },
  },
};

/** Returns a pet with random sample values, or an example if a rule refuses them. Optional attributes can be missing. */
export function randomPet(random: Random): NewPet {
  // The values have their own generator, so a seed selects the same operations for any number of attributes.
  const own = randomNumbers(random(2 ** 31));
  const values = PET_ATTRIBUTES.map((name) => {
    const attribute = ATTRIBUTES[name];
    const missing = attribute.isRequired ? [] : [undefined];
    return [name, pick(own, [...sampleValues(attribute), ...missing])] as const;
  });
  const example = samplePet('pet');
  return petWith(example, Object.fromEntries(values)) ?? example;
}

export function randomAttempt(random: Random): CreateAttempt {
  const [caller, key] = [pick(random, ['', '1', '2 1']), pick(random, ['1', 'a', 'A', 'b'])];
  // The clock is moved by whole hours, and records end at half hours, so none ends because of the time that the test takes.
  return { caller, key, validFor: (random(20) + 0.5) * HOUR };
}

/** Returns an id, usually from the range of the ids that were assigned. */
export function randomId({ lastId }: Model, random: Random): bigint {
  const id = BigInt(random(Number(lastId) + 3));
  return pick(random, [id, id, id, id, lastId, lastId, -id, lastId + 2n ** 53n, INT64_MIN, INT64_MAX]);
}

/** Asserts that a pet was stored with the attributes of `input`, and with an id greater than `lastId`. */
export function assertAdded(pet: Pet, input: NewPet, { lastId }: Model): Pet {
  assert.ok(isSamePet(pet, input), `expected the pet '${labelOf(input)}', got '${labelOf(pet)}'`);
  assert.ok(pet.id > lastId, `expected an id greater than ${lastId}, got ${pet.id}`);
  return pet;
}
