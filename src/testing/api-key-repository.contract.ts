/** The tests (contract cases) that every `ApiKeyRepository` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { nextTurn } from '../application/next-turn.ts';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { recordingUse, replacingKeys, revokingKeys } from './api-key-changes.contract.ts';
import { type ContractCase, contractCase, lastingCase, type Subject, twoClientCase } from './contract.ts';
import { savingFirst } from './first-key.contract.ts';
import {
  assertFound,
  assertNew,
  attributesOf,
  DAY,
  type Draft,
  draft,
  HOUR,
  namesOf,
} from './fixtures/keys.ts';

/** Returns all tests that an `ApiKeyRepository` must pass. */
export function apiKeyRepositoryContract(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    ...finding(subject),
    ...addingFirst(subject),
    ...savingFirst(subject),
    ...replacingKeys(subject),
    ...revokingKeys(subject),
    ...recordingUse(subject),
    ...listing(subject),
    ...twoClients(subject),
    ...lasting(subject),
  ];
}

function finding(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a key that was added is found with its attributes', async (keys) => {
      const [anna, bert] = [draft('Anna'), draft('Bert', Date.now() + HOUR, true)];
      const [a, b] = [await keys.add(...anna), await keys.add(...bert)];
      assertNew(a, anna);
      assertNew(b, bert);
      assert.notEqual(a.id, b.id);
      for (let times = 0; times < 3; times++) {
        await assertFound(keys, anna, a);
        await assertFound(keys, bert, b);
        await nextTurn();
      }
    }),

    contractCase(subject, 'a key is found as soon as it was added, and not before', async (keys) => {
      await keys.add(...draft('Anna'));
      const later = draft('Bert');
      assert.equal(await keys.find(later[0]), undefined);
      await assertFound(keys, later, await keys.add(...later));
    }),

    contractCase(subject, 'a string that was never added finds nothing', async (keys) => {
      const [key, about] = draft('Anna');
      await keys.add(key, about);
      const mistyped = key.endsWith('0') ? `${key.slice(0, -1)}1` : `${key.slice(0, -1)}0`;
      const others = ['', ' ', 'pets_', mistyped, key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`];
      others.push(key.toUpperCase(), about.prefix, 'x'.repeat(100_000), '🐈'.repeat(54));
      for (const text of others) assert.equal(await keys.find(text), undefined, text.slice(0, 60));
    }),

    contractCase(subject, 'an expired key is found too', async (keys) => {
      const expired = draft('Anna', Date.now() - 1);
      await assertFound(keys, expired, await keys.add(...expired));
    }),

    contractCase(subject, '100 keys that are added and found at the same time are distinct', async (keys) => {
      const drafts = Array.from({ length: 100 }, (_, index) => draft(`key ${index}`));
      const added = await Promise.all(drafts.map((each) => keys.add(...each)));
      const found = await Promise.all(drafts.map(([key]) => keys.find(key)));
      assert.deepEqual(found.map(attributesOf), added.map(attributesOf));
      assert.equal(new Set(added.map(({ id }) => id)).size, 100);
    }),
  ];
}

function addingFirst(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'addFirst adds a key to an empty store only', async (keys) => {
      const [first, second] = [draft('first'), draft('second')];
      const about = await keys.addFirst(...first);
      assert.ok(about);
      assertNew(about, first);
      await assertFound(keys, first, about);
      assert.equal(await keys.addFirst(...second), undefined);
      assert.equal(await keys.find(second[0]), undefined);
      assert.deepEqual(await namesOf(keys), ['first']);
    }),

    contractCase(subject, 'addFirst adds nothing after a key that is expired or revoked', async (keys) => {
      const { id } = await keys.add(...draft('ended', Date.now()));
      await keys.revoke(id, Date.now());
      assert.equal(await keys.addFirst(...draft('first')), undefined);
      assert.deepEqual(await namesOf(keys), ['ended']);
    }),

    contractCase(subject, 'of 20 concurrent calls of addFirst, one adds its key', async (keys) => {
      const drafts = Array.from({ length: 20 }, (_, index) => draft(`racer ${index}`));
      const added = await Promise.all(drafts.map((each) => keys.addFirst(...each)));
      assert.equal(added.filter((about) => about !== undefined).length, 1);
      const found = await Promise.all(drafts.map(([key]) => keys.find(key)));
      assert.deepEqual(found.map(attributesOf), added.map(attributesOf));
    }),
  ];
}

function listing(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'all keys are listed in order of creation', async (keys) => {
      assert.deepEqual(await keys.list(), []);
      const drafts = [draft('c'), draft('a', Date.now() + HOUR), draft('Ω 🐈 ’"'), draft('a')];
      for (const each of drafts) await keys.add(...each);
      const listed = await keys.list();
      assert.equal(listed.length, drafts.length);
      for (const [index, about] of listed.entries()) assertNew(about, drafts[index] as Draft);
    }),

    contractCase(subject, 'no returned object contains the key', async (keys) => {
      const [first, second] = [draft('first'), draft('second')];
      const about = await keys.addFirst(...first);
      assert.ok(about);
      const returned: unknown[] = [about, await keys.find(first[0])];
      returned.push(await keys.replace(about, Date.now() + HOUR, ...second));
      returned.push(await keys.revoke(about.id, Date.now()), await keys.list());
      for (const [key, { prefix }] of [first, second]) {
        assert.ok(!JSON.stringify(returned).includes(key.slice(prefix.length, prefix.length + 8)));
      }
    }),

    contractCase(
      subject,
      'returned keys are frozen, and changing a list does not change the store',
      async (keys) => {
        const anna = draft('Anna');
        const added = await keys.add(...anna);
        const listed = (await keys.list()) as ApiKey[];
        for (const about of [added, listed[0], await keys.find(anna[0])]) assert.ok(Object.isFrozen(about));
        if (!Object.isFrozen(listed)) listed.length = 0;
        assert.deepEqual(await namesOf(keys), ['Anna']);
        await assertFound(keys, anna, added);
      },
    ),
  ];
}

function twoClients(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    ...twoClientCase(
      subject,
      'a key added by one client is found by another one',
      async (one, two, eventually) => {
        const anna = draft('Anna');
        assert.equal(await two.find(anna[0]), undefined);
        const about = await one.add(...anna);
        await eventually(async () => (await two.find(anna[0])) !== undefined);
        await assertFound(two, anna, about);
      },
    ),

    ...twoClientCase(
      subject,
      'a key revoked by one client is revoked for another one',
      async (one, two, eventually) => {
        const anna = draft('Anna');
        const { id } = await one.add(...anna);
        await eventually(async () => (await two.find(anna[0])) !== undefined);
        await one.revoke(id, Date.now());
        await eventually(async () => (await two.find(anna[0]))?.revokedAt !== undefined);
      },
    ),

    ...twoClientCase(
      subject,
      'of two clients that call addFirst concurrently, one adds its key',
      async (one, two) => {
        const added = await Promise.all([one.addFirst(...draft('one')), two.addFirst(...draft('two'))]);
        assert.equal(added.filter((about) => about !== undefined).length, 1);
      },
    ),
  ];
}

function lasting(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return lastingCase(
    subject,
    'every key has the same attributes after reopening',
    async (keys) => {
      const drafts = [draft('used'), draft('revoked'), draft('replaced')] as const;
      const added: ApiKey[] = [];
      for (const each of drafts) added.push(await keys.add(...each));
      const [used, revoked, replaced] = added as [ApiKey, ApiKey, ApiKey];
      const next = draft('next');
      await keys.revoke(revoked.id, Date.now());
      await keys.replace(replaced, Date.now(), ...next);
      await keys.setLastUsedOn(used.id, DAY);
      return { drafts: [...drafts, next], listed: await keys.list() };
    },
    async (keys, { drafts, listed }) => {
      assert.deepEqual((await keys.list()).map(attributesOf), listed.map(attributesOf));
      for (const [index, each] of drafts.entries()) await assertFound(keys, each, listed[index] as ApiKey);
      assert.equal(await keys.addFirst(...draft('first')), undefined);
      const { id } = await keys.add(...draft('later'));
      assert.ok(!listed.some((about) => about.id === id));
    },
  );
}
