/** The tests (contract cases) that every `ApiKeyRepository` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { nextTurn } from '../application/pause.ts';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { assertFrozen, type ContractCase, contractCases, type Subject, twoClientCases } from './contract.ts';
import { assertSameKey, attributesOf, DAY, type Draft, draft, HOUR, UNKNOWN_IDS } from './fixtures/keys.ts';

/** Returns all tests that an `ApiKeyRepository` must pass. */
export function apiKeyRepositoryContract(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [...oneClient(subject), ...savingFirst(subject), ...twoClients(subject)];
}

function oneClient(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return contractCases(subject, {
    'a key is found after it was added and not before, and no other string finds a key': async (keys) => {
      const [[key, about], later] = [draft('Anna'), draft('Bert')];
      await keys.add(key, about);
      const mistyped = key.endsWith('0') ? `${key.slice(0, -1)}1` : `${key.slice(0, -1)}0`;
      const others = ['', ' ', 'pets_', mistyped, key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`];
      others.push(later[0], key.toUpperCase(), about.prefix, 'x'.repeat(100_000), '🐈'.repeat(54));
      for (const text of others) assert.equal(await keys.find(text), undefined, text.slice(0, 60));
      await assertFound(keys, later, await keys.add(...later));
    },

    '100 keys that are added and found at the same time are distinct': async (keys) => {
      const drafts = Array.from({ length: 100 }, (_, index) => draft(`key ${index}`));
      const added = await Promise.all(drafts.map((each) => keys.add(...each)));
      const found = await Promise.all(drafts.map(([key]) => keys.find(key)));
      assert.deepEqual(found.map(attributesOf), added.map(attributesOf));
      assert.equal(new Set(added.map(({ id }) => id)).size, 100);
    },

    'a key that expires after the creation of the new key is replaced': async (keys) => {
      const next = draft('next');
      const old = await keys.add(...draft('active', next[1].createdAt + 1));
      assert.ok(await keys.replace(old, Date.now() + HOUR, ...next));
    },

    'of simultaneous replacements that end a key, one is stored, even if clocks differ': async (keys) => {
      for (const expiresAt of [undefined, Date.now() + DAY]) {
        const before = await keys.list();
        const old = await keys.add(...draft('ci', expiresAt));
        const [first, ...others] = [draft('a'), draft('b'), draft('c')] as const;
        // Each call would set an expiry that is later than `createdAt` of all new keys. So no call is refused because the old
        // key has expired.
        const stored = await Promise.all([
          keys.replace(old, first[1].createdAt + 2, ...first),
          ...others.map((other) => keys.replace(old, other[1].createdAt + 1, ...other)),
        ]);
        assert.equal(stored.filter((about) => about !== undefined).length, 1);
        assert.equal((await keys.list()).length, before.length + 2);
      }
    },

    'a replaced key ends at the given time unless it expires earlier, and all its successors have one caller':
      async (keys) => {
        const [hour, day] = [Date.now() + HOUR, Date.now() + DAY];
        const expiries = [[undefined, hour] as const, [day, hour] as const, [hour, day] as const];
        for (const [expiresAt, endsAt] of expiries) {
          const [first, second, third] = [draft('first', expiresAt), draft('second', day), draft('third')];
          const old = await keys.add(...first);
          const next = await keys.replace(old, endsAt, ...second);
          assert.ok(next, 'expected an active key to be replaced');
          await assertFound(keys, first, { ...old, expiresAt: hour });
          await assertFound(keys, second, { ...second[1], id: next.id, callerId: old.id });
          await assertFound(keys, second, next);
          assert.equal((await keys.replace(next, endsAt, ...third))?.callerId, old.id);
        }
      },

    'a key that is unknown, revoked, expired or changed is not replaced: nothing changes': async (keys) => {
      const next = draft('next');
      const { createdAt } = next[1];
      const add = (name: string, expiresAt?: number) => keys.add(...draft(name, expiresAt));
      const revoked = await keys.revoke((await add('revoked')).id, createdAt);
      const refused = UNKNOWN_IDS.map((id): ApiKey => ({ ...next[1], id }));
      refused.push(revoked ?? assert.fail(), await add('expired', createdAt));
      for (const each of [await add('changed', createdAt + DAY), await add('limited since')])
        refused.push({ ...each, expiresAt: createdAt + HOUR });
      const before = (await keys.list()).map(attributesOf);
      for (const old of refused)
        assert.equal(await keys.replace(old, createdAt + 1, ...next), undefined, `${old.name} ${old.id}`);
      assert.deepEqual((await keys.list()).map(attributesOf), before);
      assert.equal(await keys.find(next[0]), undefined);
    },

    'a revoked key keeps the time of its first revocation, and a used key its last day': async (keys) => {
      const bert = await keys.add(...draft('Bert'));
      const anna = await keys.add(...draft('Anna', undefined, true));
      const revoked = { ...bert, revokedAt: bert.createdAt + 7 };
      for (const time of [7, 9]) assertSameKey(await keys.revoke(bert.id, bert.createdAt + time), revoked);
      for (const day of [2 * DAY, DAY]) await keys.setLastUsedOn(anna.id, day);
      const used = { ...anna, lastUsedOn: 2 * DAY };
      for (const id of UNKNOWN_IDS) {
        assert.equal(await keys.revoke(id, 8), undefined, id);
        await keys.setLastUsedOn(id, DAY);
      }
      assert.deepEqual((await keys.list()).map(attributesOf), [revoked, used].map(attributesOf));
    },

    'no returned object contains the key': async (keys) => {
      const [first, second] = [draft('first'), draft('second')];
      const about = await keys.addFirst(...first);
      assert.ok(about, 'expected the added key to be found');
      const returned: unknown[] = [about, await keys.find(first[0])];
      returned.push(await keys.replace(about, Date.now() + HOUR, ...second));
      returned.push(await keys.revoke(about.id, Date.now()), await keys.list());
      for (const [key, { prefix }] of [first, second]) {
        assert.ok(!JSON.stringify(returned).includes(key.slice(prefix.length, prefix.length + 8)));
      }
    },

    'returned keys are frozen, and changing a list does not change the store': async (keys) => {
      const anna = draft('Anna');
      const added = await keys.add(...anna);
      const listed = (await keys.list()) as ApiKey[];
      for (const about of [added, listed[0], await keys.find(anna[0])]) assertFrozen(about, 'each key');
      if (!Object.isFrozen(listed)) listed.length = 0;
      assert.deepEqual(await namesOf(keys), ['Anna']);
      await assertFound(keys, anna, added);
    },
  });
}

function twoClients(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return twoClientCases(subject, {
    'one client sees that another one has added or revoked a key': async (one, two, eventually) => {
      const anna = draft('Anna');
      assert.equal(await two.find(anna[0]), undefined);
      const about = await one.add(...anna);
      await eventually(async () => (await two.find(anna[0])) !== undefined);
      await assertFound(two, anna, about);
      await one.revoke(about.id, Date.now());
      await eventually(async () => (await two.find(anna[0]))?.revokedAt !== undefined);
    },
  });
}

function savingFirst(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    ...contractCases(subject, {
      'addFirst saves the key before it is stored': async (keys) => {
        const first = draft('first');
        const [saving, saved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const adding = keys.addFirst(...first, () => {
          saving.resolve();
          return saved.promise;
        });
        await saving.promise;
        assert.equal(await keys.find(first[0]), undefined);
        assert.deepEqual(await namesOf(keys), []);
        saved.resolve();
        const about = await adding;
        assert.ok(about, 'expected a first key in an empty store');
        assert.equal(typeof about.id, 'string');
        assert.deepEqual(attributesOf(about), attributesOf({ ...first[1], id: about.id }));
        await assertFound(keys, first, about);
      },

      'addFirst stores nothing when saving fails': async (keys) => {
        const reason = new Error('the disk is full');
        const fail = () => {
          throw reason;
        };
        for (const save of [fail, () => Promise.reject(reason)]) {
          await assert.rejects(keys.addFirst(...draft('first'), save), (error) => error === reason);
        }
        assert.deepEqual(await namesOf(keys), []);
        assert.ok(await keys.addFirst(...draft('first')), 'expected a first key in an empty store');
      },

      'of 20 concurrent calls of addFirst, one saves and adds its key, and no later call does': async (
        keys,
      ) => {
        const saved: string[] = [];
        const drafts = Array.from({ length: 20 }, (_, index) => draft(`racer ${index}`));
        const added = await Promise.all(drafts.map((each) => addSlowly(keys, each, saved)));
        assert.equal(saved.length, 1);
        assert.equal(await keys.addFirst(...draft('late'), () => assert.fail()), undefined);
        assert.deepEqual(await namesOf(keys), saved);
        const found = await Promise.all(drafts.map(([key]) => keys.find(key)));
        assert.deepEqual(found.map(attributesOf), added.map(attributesOf));
      },
    }),
    ...twoClientCases(subject, {
      'of two clients that call addFirst concurrently, one saves its key': async (one, two) => {
        const saved: string[] = [];
        await Promise.all([addSlowly(one, draft('one'), saved), addSlowly(two, draft('two'), saved)]);
        assert.equal(saved.length, 1);
        assert.deepEqual(await namesOf(one), saved);
      },
    }),
  ];
}

/** Adds a first key with a callback that takes several turns of the event loop to save the key. */
function addSlowly(
  keys: ApiKeyRepository,
  [key, about]: Draft,
  saved: string[],
): ReturnType<typeof keys.addFirst> {
  return keys.addFirst(key, about, async () => {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    saved.push(about.name);
  });
}

/** Asserts that the repository finds a key, with these attributes. */
async function assertFound(keys: ApiKeyRepository, [key]: Draft, expected: ApiKey): Promise<void> {
  assertSameKey(await keys.find(key), expected);
}

async function namesOf(keys: ApiKeyRepository): Promise<string[]> {
  return (await keys.list()).map(({ name }) => name);
}
