/** The contract of `ApiKeyRepository`, and so of `ApiKeyVerifier`, as cases for any test runner. */

import assert from 'node:assert/strict';
import type { ApiKeyRepository } from '../application/ports.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { type ContractCase, contractCase, lastingCase, nextTurn, type Subject } from './contract.ts';
import { assertAbout, assertHolder, type Draft, draft, namesOf, startOfDay, untilUsed } from './keys.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

/** Ids that no key has, in shapes that an adapter could stumble over. */
const UNKNOWN_IDS = ['', '0', '-1', '999', '01', '1.0', 'one', `' OR 1=1`, '9223372036854775808', '💥'];

/** Every case that an adapter must pass, over the way to get at it. */
export function apiKeyRepositoryContract(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    ...verifying(subject),
    ...addingFirst(subject),
    ...replacing(subject),
    ...revoking(subject),
    ...listing(subject),
    ...lasting(subject),
  ];
}

function verifying(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a key that was added is good, and tells whose it is', async (keys) => {
      const [anna, bert] = [draft('Anna'), draft('Bert')];
      const { id } = await keys.add(...anna);
      const { id: other } = await keys.add(...bert);
      assert.notEqual(id, other);
      for (let time = 0; time < 3; time++) {
        await assertHolder(keys, anna, id);
        await assertHolder(keys, bert, other);
        await nextTurn();
      }
    }),

    contractCase(subject, 'a key that was not added is nobody’s, until it is added', async (keys) => {
      await keys.add(...draft('Anna'));
      const later = draft('Bert');
      assert.equal(await keys.verify(later[0]), undefined);
      const { id } = await keys.add(...later);
      await assertHolder(keys, later, id);
    }),

    contractCase(subject, 'a mistyped key is nobody’s', async (keys) => {
      const [key, about] = draft('Anna');
      await keys.add(key, about);
      const swapped = key.endsWith('0') ? `${key.slice(0, -1)}1` : `${key.slice(0, -1)}0`;
      const mistyped = ['', ' ', 'pets_', swapped, key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`];
      mistyped.push(key.toUpperCase(), about.hint, 'x'.repeat(100_000), '🐈'.repeat(54));
      for (const text of mistyped) assert.equal(await keys.verify(text), undefined, text.slice(0, 60));
    }),

    contractCase(subject, 'a key is good until it expires', async (keys) => {
      const [good, over] = [draft('Anna', Date.now() + HOUR), draft('Bert', Date.now())];
      const { id } = await keys.add(...good);
      await keys.add(...over);
      await assertHolder(keys, good, id);
      assert.equal(await keys.verify(over[0]), undefined);
    }),

    contractCase(subject, 'many keys verified at once are told apart', async (keys) => {
      const drafts = Array.from({ length: 100 }, (_, index) => draft(`key ${index}`));
      const added = await Promise.all(drafts.map((each) => keys.add(...each)));
      const holders = await Promise.all(drafts.map(([key]) => keys.verify(key)));
      assert.deepEqual(
        holders.map((holder) => holder?.id),
        added.map(({ id }) => id),
      );
    }),

    contractCase(subject, 'a use is noted by its UTC day, of a good key only', async (keys) => {
      const [used, unused, over] = [draft('used'), draft('unused'), draft('over', Date.now())];
      for (const each of [used, unused, over]) await keys.add(...each);
      const earliest = startOfDay();
      await keys.verify(over[0]);
      await keys.verify(used[0]);
      const about = await untilUsed(keys, 'used');
      assert.ok(about.lastUsedOn === earliest || about.lastUsedOn === startOfDay());
      await keys.verify(used[0]);
      await assertHolder(keys, used, about.id);
      for (const { name, lastUsedOn } of await keys.list()) {
        if (name !== 'used') assert.equal(lastUsedOn, undefined);
      }
    }),
  ];
}

function addingFirst(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'the first key can be added to an empty store only', async (keys) => {
      const [first, second] = [draft('first'), draft('second')];
      const about = await keys.addFirst(...first);
      assert.ok(about);
      await assertHolder(keys, first, about.id);
      assert.equal(await keys.addFirst(...second), undefined);
      assert.equal(await keys.verify(second[0]), undefined);
      assert.deepEqual(await namesOf(keys), ['first']);
    }),

    contractCase(subject, 'a key that is over still was the first', async (keys) => {
      const { id } = await keys.add(...draft('ended', Date.now()));
      await keys.revoke(id, Date.now());
      assert.equal(await keys.addFirst(...draft('first')), undefined);
      assert.deepEqual(await namesOf(keys), ['ended']);
    }),

    contractCase(subject, 'of many that race to be the first, one is', async (keys) => {
      const drafts = Array.from({ length: 20 }, (_, index) => draft(`racer ${index}`));
      const added = await Promise.all(drafts.map((each) => keys.addFirst(...each)));
      assert.equal(added.filter((about) => about !== undefined).length, 1);
      const holders = await Promise.all(drafts.map(([key]) => keys.verify(key)));
      assert.deepEqual(
        holders.map((holder) => holder?.id),
        added.map((about) => about?.id),
      );
    }),
  ];
}

function replacing(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'both keys are good until the replaced one ends', async (keys) => {
      const [old, next] = [draft('ci'), draft('ci')];
      const { id } = await keys.add(...old);
      const endsAt = Date.now() + HOUR;
      const about = await keys.replace(id, endsAt, ...next);
      assert.ok(about);
      assert.notEqual(about.id, id);
      await assertHolder(keys, old, id);
      await assertHolder(keys, next, about.id);
      const [first, second] = await keys.list();
      assert.deepEqual([first?.expiresAt, second?.expiresAt], [endsAt, undefined]);
    }),

    contractCase(subject, 'a replaced key is over at once when its end has come', async (keys) => {
      const [old, next] = [draft('ci'), draft('ci')];
      const { id } = await keys.add(...old);
      await assertHolder(keys, old, id);
      const about = await keys.replace(id, Date.now(), ...next);
      assert.equal(await keys.verify(old[0]), undefined);
      await assertHolder(keys, next, about?.id);
    }),

    contractCase(subject, 'a replaced key never lives longer than it would have', async (keys) => {
      const soon = Date.now() + HOUR;
      const { id } = await keys.add(...draft('soon', soon));
      const { id: late } = await keys.add(...draft('late', soon + DAY));
      await keys.replace(id, soon + HOUR, ...draft('next'));
      await keys.replace(late, soon, ...draft('next'));
      const listed = await keys.list();
      assert.deepEqual(
        listed.slice(0, 2).map(({ expiresAt }) => expiresAt),
        [soon, soon],
      );
    }),

    contractCase(subject, 'of several keys, only the replaced one ends', async (keys) => {
      const drafts = [draft('Anna'), draft('Bert'), draft('Carla')] as const;
      const abouts = [];
      for (const each of drafts) abouts.push(await keys.add(...each));
      const [anna, bert, carla] = abouts;
      const next = draft('Bert');
      const about = await keys.replace(bert?.id ?? '', Date.now(), ...next);
      assert.equal(await keys.verify(drafts[1][0]), undefined);
      await assertHolder(keys, drafts[0], anna?.id);
      await assertHolder(keys, drafts[2], carla?.id);
      await assertHolder(keys, next, about?.id);
    }),

    contractCase(subject, 'a key that is revoked or expired is not replaced', async (keys) => {
      const revoked = await keys.add(...draft('revoked'));
      await keys.revoke(revoked.id, Date.now());
      const next = draft('next');
      const expired = await keys.add(...draft('expired', next[1].createdAt));
      const before = await keys.list();
      for (const { id } of [revoked, expired]) {
        assert.equal(await keys.replace(id, Date.now() + HOUR, ...next), undefined);
      }
      assert.equal(await keys.verify(next[0]), undefined);
      assert.deepEqual(await keys.list(), before);
    }),

    contractCase(subject, 'where there is nothing to replace, nothing is added', async (keys) => {
      const [old] = [draft('Anna')];
      const { id } = await keys.add(...old);
      const before = await keys.list();
      for (const unknown of UNKNOWN_IDS) {
        const next = draft('next');
        assert.equal(await keys.replace(unknown, Date.now(), ...next), undefined);
        assert.equal(await keys.verify(next[0]), undefined);
      }
      assert.deepEqual(await keys.list(), before);
      await assertHolder(keys, old, id);
    }),
  ];
}

function revoking(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a revoked key is nobody’s from the next call on', async (keys) => {
      const [anna, bert] = [draft('Anna'), draft('Bert')];
      const { id } = await keys.add(...anna);
      const { id: other } = await keys.add(...bert);
      await assertHolder(keys, anna, id);
      const revokedAt = Date.now();
      const about = await keys.revoke(id, revokedAt);
      assert.equal(await keys.verify(anna[0]), undefined);
      assert.deepEqual([about?.id, about?.name, about?.revokedAt], [id, 'Anna', revokedAt]);
      await assertHolder(keys, bert, other);
    }),

    contractCase(subject, 'a key is revoked once, at the first time', async (keys) => {
      const [key, about] = draft('Anna');
      const { id } = await keys.add(key, about);
      const first = await keys.revoke(id, about.createdAt + 1);
      assert.deepEqual(await keys.revoke(id, about.createdAt + 2), first);
      assert.equal((await keys.list())[0]?.revokedAt, about.createdAt + 1);
      assert.equal(await keys.verify(key), undefined);
    }),

    contractCase(subject, 'what is not there cannot be revoked', async (keys) => {
      const anna = draft('Anna');
      const { id } = await keys.add(...anna);
      for (const unknown of UNKNOWN_IDS) assert.equal(await keys.revoke(unknown, Date.now()), undefined);
      await assertHolder(keys, anna, id);
    }),
  ];
}

function listing(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'the list has every key in order of creation, as it was added', async (keys) => {
      assert.deepEqual(await keys.list(), []);
      const drafts = [draft('c'), draft('a', Date.now() + HOUR), draft('Ω 🐈 ’"'), draft('a')];
      for (const each of drafts) assertAbout(await keys.add(...each), each);
      const listed = await keys.list();
      assert.equal(listed.length, drafts.length);
      for (const [index, about] of listed.entries()) {
        assertAbout(about, drafts[index] as Draft);
        assert.equal(about.revokedAt ?? about.lastUsedOn, undefined);
      }
    }),

    contractCase(subject, 'nothing that is given back has the key in it', async (keys) => {
      const [first, second] = [draft('first'), draft('second')];
      const given: unknown[] = [await keys.addFirst(...first), await keys.verify(first[0])];
      given.push(await keys.replace((await keys.list())[0]?.id ?? '', Date.now() + HOUR, ...second));
      given.push(await keys.revoke((await keys.list())[0]?.id ?? '', Date.now()), await keys.list());
      for (const [key, { hint }] of [first, second]) {
        assert.ok(!JSON.stringify(given).includes(key.slice(hint.length, hint.length + 8)));
      }
    }),

    contractCase(subject, 'what is done to the list does nothing to the store', async (keys) => {
      const anna = draft('Anna');
      const added = await keys.add(...anna);
      const listed = (await keys.list()) as ApiKey[];
      for (const about of [added, listed[0], await keys.verify(anna[0])]) {
        assert.throws(() => Object.assign(about as object, { name: 'Eve' }), TypeError);
      }
      try {
        listed.length = 0;
      } catch {
        // A frozen list is as good as a copy.
      }
      assert.deepEqual(await namesOf(keys), ['Anna']);
      await assertHolder(keys, anna, added.id);
    }),
  ];
}

function lasting(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return lastingCase(
    subject,
    'every key is there again after reopening, as it was',
    async (keys) => {
      const drafts = [draft('good'), draft('revoked'), draft('replaced')] as const;
      const [, revoked, replaced] = await Promise.all(drafts.map((each) => keys.add(...each)));
      await keys.revoke(revoked?.id ?? '', Date.now());
      const next = draft('next');
      await keys.replace(replaced?.id ?? '', Date.now(), ...next);
      await keys.verify(drafts[0][0]);
      await untilUsed(keys, 'good');
      return { drafts, next, listed: await keys.list() };
    },
    async (keys, { drafts: [good, revoked, replaced], next, listed }) => {
      assert.deepEqual(await keys.list(), listed);
      await assertHolder(keys, good, listed[0]?.id);
      await assertHolder(keys, next, listed[3]?.id);
      for (const [key] of [revoked, replaced]) assert.equal(await keys.verify(key), undefined);
      assert.equal(await keys.addFirst(...draft('first')), undefined);
      const { id } = await keys.add(...draft('later'));
      assert.ok(!listed.some((about) => about.id === id));
    },
  );
}
