/** The operations of a random sequence. Each is called on the storage and on the model, and its results are compared. */

import assert from 'node:assert/strict';
import type { StoreStorage } from '../../application/ports/storage.ts';
import { type ApiKey, apiKeyPrefix } from '../../domain/api-key.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import {
  ATTRIBUTES,
  isSamePet,
  type NewPet,
  type NewPetInput,
  newPet,
  PET_ATTRIBUTES,
  PET_STATUSES,
  type Pet,
} from '../../domain/pet.ts';
import { attributesOf, DAY, draft, UNKNOWN_IDS } from '../fixtures/keys.ts';
import { sampleValues, walk } from '../fixtures/pets.ts';
import { exported, inBatches, oneByOne, petWithId } from '../fixtures/transfers.ts';
import type { Random } from '../random.ts';
import type { Model } from './model.ts';

/** What an operation works on. The parts of the storage that an operation needs are there. */
export interface World {
  storage: StoreStorage;
  readonly model: Model;
  readonly random: Random;
  /** The time of the call, in milliseconds. Each operation has a later one. */
  now: number;
  /** Closes the storage, and opens it again. */
  readonly reopen: () => Promise<void>;
}

export type Part = keyof StoreStorage | 'reopen';

export interface Operation {
  readonly part: Part;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  /** All that it can come to, in words. */
  readonly outcomes: readonly string[];
  /** Resolves with one of the outcomes. Rejects when the storage and the model differ. */
  run(world: Required<World>): Promise<string>;
}

/** The time between two operations. */
export const TICK = 1000;

const REASON = new Error('the reason of the failure');

/** How each operation can end on a storage that has its part. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'create a pet': {
    part: 'pets',
    weight: 4,
    outcomes: ['stored'],
    async run({ storage, model, random }) {
      const input = randomPet(random);
      model.pets.push(assertAdded(await storage.pets.add(input), input, model));
      return 'stored';
    },
  },

  'create a pet once': {
    part: 'idempotentCreates',
    weight: 6,
    outcomes: ['stored', 'replayed'],
    async run({ storage, model, random, now }) {
      const [caller, key] = [pick(random, ['', '1', '2 1']), pick(random, ['1', 'a', 'A', 'b'])];
      // No two records end at the same time, because their order would be open.
      const validUntil = now + random(20) * TICK + ((now / TICK) % TICK);
      const attempt = { caller, key, at: now, validUntil };
      const input = randomPet(random);
      const expected = model.replayed(attempt);
      const { pet, isReplay } = (await storage.idempotentCreates?.add(input, attempt)) ?? assert.fail();
      assert.equal(isReplay, expected !== undefined);
      if (expected === undefined) model.addOnce(assertAdded(pet, input, model), attempt);
      else assert.deepEqual(pet, expected);
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
      const status = pick(random, [undefined, ...PET_STATUSES]);
      const after = random(3) === 0 ? undefined : randomId(model, random);
      const query = { limit: pick(random, [1, 2, 5, 20, 100]), status, after };
      const expected = model.list(query);
      const { pets, more } = await storage.pets.list(query);
      assert.deepEqual({ pets, more }, expected);
      return more ? 'more' : 'no more';
    },
  },

  'create a key': {
    part: 'apiKeys',
    weight: 2,
    outcomes: ['stored'],
    async run({ storage, model, random, now }) {
      const [key, about] = randomDraft(random, now);
      const stored = (await storage.apiKeys?.add(key, about)) ?? assert.fail();
      model.keys.set(key, assertNewKey(stored, about, model));
      return 'stored';
    },
  },

  'create the first key': {
    part: 'apiKeys',
    weight: 1,
    outcomes: ['stored', 'refused'],
    async run({ storage, model, random, now }) {
      const [key, about] = randomDraft(random, now);
      const stored = await storage.apiKeys?.addFirst(key, about);
      assert.equal(stored === undefined, model.keys.size > 0);
      if (stored === undefined) return 'refused';
      model.keys.set(key, assertNewKey(stored, about, model));
      return 'stored';
    },
  },

  'find a key': {
    part: 'apiKeys',
    weight: 2,
    outcomes: ['found', 'not found'],
    async run({ storage, model, random, now }) {
      const key = pick(random, [...model.keys.keys(), randomDraft(random, now)[0]]);
      const expected = model.keys.get(key);
      assert.deepEqual(allOf(await storage.apiKeys?.find(key)), allOf(expected));
      return expected === undefined ? 'not found' : 'found';
    },
  },

  'rotate a key': {
    part: 'apiKeys',
    weight: 3,
    outcomes: ['stored', 'refused'],
    async run({ storage, model, random, now }) {
      const unknown: ApiKey = { id: pick(random, UNKNOWN_IDS), name: 'x', prefix: '', createdAt: 0 };
      const listed = pick(random, [...model.keys.values(), unknown]);
      // Another caller may have changed the key after it was listed.
      const old = random(4) === 0 ? { ...listed, expiresAt: now + 7 } : listed;
      const [key, about] = randomDraft(random, now);
      const endsAt = now + random(20) * TICK;
      const stored = await storage.apiKeys?.replace(old, endsAt, key, about);
      assert.equal(stored !== undefined, model.canReplace(old, now));
      if (stored === undefined) return 'refused';
      const callerId = old.callerId ?? old.id;
      model.changeKey(old.id, ({ expiresAt = endsAt }) => ({ expiresAt: Math.min(expiresAt, endsAt) }));
      model.keys.set(key, assertNewKey(stored, { ...about, callerId }, model));
      return 'stored';
    },
  },

  'revoke a key': {
    part: 'apiKeys',
    weight: 2,
    outcomes: ['revoked', 'unknown'],
    async run({ storage, model, random, now }) {
      const id = randomKeyId(model, random);
      const isKnown = model.changeKey(id, ({ revokedAt = now }) => ({ revokedAt }));
      assert.deepEqual(allOf(await storage.apiKeys?.revoke(id, now)), allOf(model.keyWithId(id)?.[1]));
      return isKnown ? 'revoked' : 'unknown';
    },
  },

  'record the use of a key': {
    part: 'apiKeys',
    weight: 2,
    outcomes: ['recorded', 'ignored'],
    async run({ storage, model, random }) {
      const id = randomKeyId(model, random);
      const day = random(5) * DAY;
      const latest = random(3) === 0 ? 3 * DAY : undefined;
      const before = model.keyWithId(id)?.[1];
      const isOld = before?.lastUsedOn === undefined || day > before.lastUsedOn;
      const isRecorded = before !== undefined && (isOld || Number(before.lastUsedOn) > (latest ?? Infinity));
      if (isRecorded) model.changeKey(id, () => ({ lastUsedOn: day }));
      await storage.apiKeys?.setLastUsedOn(id, day, latest);
      return isRecorded ? 'recorded' : 'ignored';
    },
  },

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
      for (const [index, pet] of added.entries())
        model.pets.push(assertAdded(pet, inputs[index] as NewPet, model));
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
      if (model.pets.length > 0) {
        await assert.rejects(importing, { code: 'invalid_request' });
        return 'refused';
      }
      const stored = [...new Map(inputs.map((pet) => [pet.id, pet])).values()];
      assert.equal(await importing, stored.length);
      assert.equal(duplicates.length, inputs.length - stored.length);
      model.pets.push(...stored.sort((a, b) => (a.id < b.id ? -1 : 1)));
      return 'stored';
    },
  },

  'export pets': {
    part: 'transfer',
    weight: 1,
    outcomes: ['exported'],
    async run({ storage, model, random }) {
      const { transfer = assert.fail() } = storage;
      const status = pick(random, [undefined, ...PET_STATUSES]);
      assert.deepEqual(await exported(transfer, { status }), model.list({ limit: Infinity, status }).pets);
      return 'exported';
    },
  },

  'remove records': {
    part: 'idempotencyRecords',
    weight: 1,
    outcomes: ['removed', 'nothing'],
    async run({ storage, model, random, now }) {
      const limit = 1 + random(4);
      const expected = model.removeRecords(now, limit);
      assert.equal(await storage.idempotencyRecords?.removeRecords(now, limit), expected);
      return expected > 0 ? 'removed' : 'nothing';
    },
  },

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

/** Compares all that a storage holds with the model. Of the keys, some are also found by themselves. */
export async function assertSameState({ storage, model, random }: World): Promise<void> {
  assert.deepEqual(await walk(storage.pets, { limit: 100 }), model.pets);
  const { apiKeys, idempotencyRecords } = storage;
  if (apiKeys !== undefined) {
    assert.deepEqual((await apiKeys.list()).map(allOf), [...model.keys.values()].map(allOf));
    const names = [...model.keys.keys()];
    const found = names.filter((_, index) => index === names.length - 1 || random(8) === 0);
    for (const key of found) assert.deepEqual(allOf(await apiKeys.find(key)), allOf(model.keys.get(key)));
  }
  // Without the port for records, nothing but a replay tells which there are.
  if (idempotencyRecords !== undefined) assert.equal(await idempotencyRecords.count(), model.records.size);
}

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T;
}

/** A pet whose attributes are at the ends of their ranges, or missing if they may be. */
function randomPet(random: Random): NewPet {
  const values = PET_ATTRIBUTES.map((name) => {
    const attribute = ATTRIBUTES[name];
    const missing = attribute.isRequired ? [] : [undefined];
    return [name, pick(random, [...sampleValues(attribute), ...missing])] as const;
  });
  const input: Partial<Record<keyof NewPet, unknown>> = Object.fromEntries(values);
  return newPet(input as NewPetInput);
}

/** Most often the id of a pet, or one beside it. */
function randomId({ lastId }: Model, random: Random): bigint {
  const id = BigInt(random(Number(lastId) + 3));
  return pick(random, [id, id, id, id, lastId, lastId, -id, lastId + 2n ** 53n, INT64_MIN, INT64_MAX]);
}

function randomKeyId(model: Model, random: Random): string {
  return random(4) === 0
    ? pick(random, UNKNOWN_IDS)
    : (pick(random, [...model.keys.values()])?.id ?? pick(random, UNKNOWN_IDS));
}

function randomDraft(random: Random, now: number): ReturnType<typeof draft> {
  const expiresAt = random(2) === 0 ? undefined : now + (1 + random(30)) * TICK;
  const [key, about] = draft(`key ${random(10)}`, expiresAt, random(2) === 0);
  return [key, { ...about, prefix: apiKeyPrefix(key), createdAt: now }];
}

/** Asserts that a pet was stored with a new id above all others. */
function assertAdded(pet: Pet, input: NewPet, { lastId }: Model): Pet {
  assert.ok(isSamePet(pet, input), `expected the pet '${input.name}', got '${pet.name}'`);
  assert.ok(pet.id > lastId, `expected an id greater than ${lastId}, got ${pet.id}`);
  return pet;
}

function assertNewKey(stored: ApiKey, about: Omit<ApiKey, 'id'>, model: Model): ApiKey {
  assert.equal(model.keyWithId(stored.id), undefined, `the id ${stored.id} was assigned twice`);
  const expected = { ...about, id: stored.id };
  assert.deepEqual(allOf(stored), allOf(expected));
  return expected;
}

function allOf(about: ApiKey | undefined): unknown {
  return [attributesOf(about), about?.callerId];
}
