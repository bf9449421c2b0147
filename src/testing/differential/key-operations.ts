/** The operations on API keys. */

import assert from 'node:assert/strict';
import { type ApiKey, apiKeyPrefix } from '../../domain/api-key.ts';
import { assertSameKey, DAY, draft, UNKNOWN_IDS } from '../fixtures/keys.ts';
import type { Random } from '../random.ts';
import type { Model } from './model.ts';
import { type Operation, pick, TICK } from './operation.ts';

export const KEY_OPERATIONS: Readonly<Record<string, Operation>> = {
  'create a key': {
    part: 'apiKeys',
    weight: 2,
    outcomes: ['stored'],
    async run({ storage, model, random, now }) {
      const [key, about] = randomDraft(random, now);
      const stored = (await storage.apiKeys?.add(key, about)) ?? assert.fail();
      addKey(model, key, stored, about);
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
      addKey(model, key, stored, about);
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
      assertSameKey(await storage.apiKeys?.find(key), expected);
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
      // Simulates that another caller has changed the key after it was listed.
      const old = random(4) === 0 ? { ...listed, expiresAt: now + 7 } : listed;
      const [key, about] = randomDraft(random, now);
      const endsAt = now + random(20) * TICK;
      const stored = await storage.apiKeys?.replace(old, endsAt, key, about);
      assert.equal(stored !== undefined, model.canReplace(old, now));
      if (stored === undefined) return 'refused';
      const callerId = old.callerId ?? old.id;
      model.changeKey(old.id, ({ expiresAt = endsAt }) => ({ expiresAt: Math.min(expiresAt, endsAt) }));
      addKey(model, key, stored, { ...about, callerId });
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
      assertSameKey(await storage.apiKeys?.revoke(id, now), model.keyWithId(id)?.[1]);
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
      const before = model.keyWithId(id)?.[1];
      const isRecorded = before !== undefined && day > (before.lastUsedOn ?? -Infinity);
      if (isRecorded) model.changeKey(id, () => ({ lastUsedOn: day }));
      await storage.apiKeys?.setLastUsedOn(id, day);
      return isRecorded ? 'recorded' : 'ignored';
    },
  },
};

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

/** Adds a key to the model. Asserts that it was stored with these attributes and a new id. */
function addKey(model: Model, key: string, stored: ApiKey, about: Omit<ApiKey, 'id'>): void {
  assert.equal(model.keyWithId(stored.id), undefined, `the id ${stored.id} was assigned twice`);
  const expected = { ...about, id: stored.id };
  assertSameKey(stored, expected);
  model.keys.set(key, expected);
}
