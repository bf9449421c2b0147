/** The operations that change pets, and the operation that reads the feed of changes. */

import assert from 'node:assert/strict';
import type { ChangeAttempt } from '../../application/ports/idempotent-changes.ts';
import type { Pet } from '../../domain/pet.ts';
import { follow } from '../pet-changes-feed.contract.ts';
import type { Random } from '../random.ts';
import type { Model } from './model.ts';
import { type Operation, pick } from './operation.ts';
import { randomAttempt, randomId, randomPet } from './pet-operations.ts';

export const CHANGE_OPERATIONS: Readonly<Record<string, Operation>> = {
  'change a pet': {
    part: 'changes',
    weight: 5,
    outcomes: ['changed', 'removed', 'refused'],
    async run({ storage, model, random }) {
      const { changes = assert.fail() } = storage;
      const { id, pet, expected, isExpected } = randomChange(model, random);
      const revision = await (pet ? changes.replace(pet, expected) : changes.remove(id, expected));
      assert.equal(revision !== undefined, isExpected);
      return applied(model, id, pet, revision);
    },
  },

  'change a pet once': {
    part: 'idempotentChanges',
    weight: 7,
    outcomes: ['changed', 'removed', 'refused', 'recorded', 'found a record'],
    async run({ storage, model, random }) {
      const { idempotentChanges: writes = assert.fail() } = storage;
      const { id, pet, expected, isExpected } = randomChange(model, random);
      const attempt: ChangeAttempt = { ...randomAttempt(random), request: `request ${random(3)}` };
      const record = model.validRecord(attempt);
      const found = await writes.find(id, attempt);
      assert.equal(found.record === undefined, record === undefined);
      assert.deepEqual([found.record?.request, found.record?.pet], [record?.request, record?.pet]);
      const version = model.versions.get(id);
      assert.deepEqual([found.version?.pet, found.version?.revision], [version?.pet, version?.revision]);
      if (random(6) === 0) {
        assert.equal(await writes.record(id, pet, attempt), record === undefined);
        if (record === undefined) model.record(pet, attempt);
        return record === undefined ? 'recorded' : 'found a record';
      }
      const revision = await (pet
        ? writes.replace(pet, expected, attempt)
        : writes.remove(id, expected, attempt));
      assert.equal(revision !== undefined, isExpected && record === undefined);
      if (revision !== undefined) model.record(pet, attempt);
      return record === undefined ? applied(model, id, pet, revision) : 'found a record';
    },
  },

  'list changes': {
    part: 'changes',
    weight: 5,
    outcomes: ['more', 'no more'],
    async run({ storage, model, random }) {
      const after = random(3) === 0 ? 0n : BigInt(random(Number(model.lastId) + 1));
      const limit = pick(random, [1, 2, 5, 20, 1000]);
      const { changes = assert.fail() } = storage;
      const expected = [...model.versions]
        .map(([id, version]) => ({ id, ...version }))
        .filter(({ revision }) => revision > after)
        .sort((a, b) => (a.revision < b.revision ? -1 : 1));
      assert.deepEqual(await follow(changes, limit, after), expected);
      return expected.length > limit ? 'more' : 'no more';
    },
  },
};

/** Returns a random change, and whether it expects the newest version of an existing pet. A change without `pet` is a removal. */
function randomChange(model: Model, random: Random) {
  const id = randomId(model, random);
  const version = model.versions.get(id);
  const expected = random(4) === 0 ? randomId(model, random) : (version?.revision ?? id);
  const pet = random(3) === 0 ? undefined : { id, ...randomPet(random) };
  return { id, pet, expected, isExpected: version?.pet !== undefined && version.revision === expected };
}

function applied(model: Model, id: bigint, pet: Pet | undefined, revision: bigint | undefined): string {
  if (revision === undefined) return 'refused';
  assert.ok(revision > model.lastId, `expected a revision above ${model.lastId}, got ${revision}`);
  model.change(id, pet, revision);
  return pet === undefined ? 'removed' : 'changed';
}
