/** The tests (contract cases) of `ApiKeyRepository` for replacing, revoking and using keys. */

import assert from 'node:assert/strict';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { type ContractCase, contractCase, type Subject } from './contract.ts';
import { assertFound, assertNew, attributesOf, DAY, draft, HOUR, UNKNOWN_IDS } from './fixtures/keys.ts';

export function replacingKeys(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a replaced key gets an expiry, and the new key is stored', async (keys) => {
      const [old, next] = [draft('ci'), draft('ci', Date.now() + DAY, true)];
      const before = await keys.add(...old);
      const endsAt = Date.now() + HOUR;
      const about = await keys.replace(before, endsAt, ...next);
      assert.ok(about);
      assertNew(about, next);
      assert.notEqual(about.id, before.id);
      await assertFound(keys, old, { ...before, expiresAt: endsAt });
      await assertFound(keys, next, about);
    }),

    contractCase(subject, 'a replaced key never expires later than before', async (keys) => {
      const soon = Date.now() + HOUR;
      const early = await keys.add(...draft('soon', soon));
      const late = await keys.add(...draft('late', soon + DAY));
      await keys.replace(early, soon + HOUR, ...draft('next'));
      await keys.replace(late, soon, ...draft('next'));
      assert.deepEqual(
        (await keys.list()).map(({ expiresAt }) => expiresAt),
        [soon, soon, undefined, undefined],
      );
    }),

    contractCase(subject, 'only the key with the id is replaced', async (keys) => {
      const drafts = [draft('Anna'), draft('Bert'), draft('Carla')] as const;
      const added: ApiKey[] = [];
      for (const each of drafts) added.push(await keys.add(...each));
      const [anna, bert, carla] = added as [ApiKey, ApiKey, ApiKey];
      const endsAt = Date.now();
      await keys.replace(bert, endsAt, ...draft('Bert'));
      await assertFound(keys, drafts[0], anna);
      await assertFound(keys, drafts[1], { ...bert, expiresAt: endsAt });
      await assertFound(keys, drafts[2], carla);
    }),

    contractCase(subject, 'a key that is revoked or expired is not replaced', async (keys) => {
      const { id } = await keys.add(...draft('revoked'));
      const revoked = await keys.revoke(id, Date.now());
      assert.ok(revoked);
      const next = draft('next');
      const expired = await keys.add(...draft('expired', next[1].createdAt));
      const before = await keys.list();
      for (const old of [revoked, expired]) {
        assert.equal(await keys.replace(old, Date.now() + HOUR, ...next), undefined);
      }
      assert.equal(await keys.find(next[0]), undefined);
      assert.deepEqual(await keys.list(), before);
    }),

    contractCase(
      subject,
      'a key that expires after the creation of the new key is replaced',
      async (keys) => {
        const next = draft('next');
        const old = await keys.add(...draft('active', next[1].createdAt + 1));
        assert.ok(await keys.replace(old, Date.now() + HOUR, ...next));
      },
    ),

    contractCase(
      subject,
      'all keys of a series of replacements have the id of the first key as caller id',
      async (keys) => {
        const first = await keys.add(...draft('ci'));
        await keys.add(...draft('other'));
        assert.equal(first.callerId, undefined);
        const drafts = [draft('ci'), draft('ci')] as const;
        const second = await keys.replace(first, Date.now() + HOUR, ...drafts[0]);
        assert.ok(second);
        const third = await keys.replace(second, Date.now() + HOUR, ...drafts[1]);
        for (const about of [second, third]) assert.equal(about?.callerId, first.id);
        for (const [key] of drafts) assert.equal((await keys.find(key))?.callerId, first.id);
        assert.deepEqual(
          (await keys.list()).map(({ callerId }) => callerId),
          [undefined, undefined, first.id, first.id],
        );
      },
    ),

    contractCase(
      subject,
      'of simultaneous replacements that end a key, one is stored, also when the clocks differ',
      async (keys) => {
        for (const expiresAt of [undefined, Date.now() + DAY]) {
          const before = await keys.list();
          const old = await keys.add(...draft('ci', expiresAt));
          const [first, ...others] = [draft('a'), draft('b'), draft('c')] as const;
          // The other callers have older clocks, on which the key is still active after the first replacement.
          const stored = await Promise.all([
            keys.replace(old, first[1].createdAt + 2, ...first),
            ...others.map((other) => keys.replace(old, other[1].createdAt + 1, ...other)),
          ]);
          assert.equal(stored.filter((about) => about !== undefined).length, 1);
          assert.equal((await keys.list()).length, before.length + 2);
        }
      },
    ),

    contractCase(subject, 'an unknown id is not replaced, and nothing is added', async (keys) => {
      const old = draft('ci');
      const about = await keys.add(...old);
      for (const unknown of UNKNOWN_IDS) {
        const next = draft('next');
        assert.equal(await keys.replace({ ...about, id: unknown }, Date.now(), ...next), undefined);
        assert.equal(await keys.find(next[0]), undefined);
      }
      assert.deepEqual((await keys.list()).map(attributesOf), [attributesOf(about)]);
      await assertFound(keys, old, about);
    }),
  ];
}

export function revokingKeys(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'a revoked key is found with its time of revocation', async (keys) => {
      const [anna, bert] = [draft('Anna'), draft('Bert')];
      const [a, b] = [await keys.add(...anna), await keys.add(...bert)];
      await assertFound(keys, anna, a);
      const revokedAt = Date.now();
      const about = await keys.revoke(a.id, revokedAt);
      assert.deepEqual(attributesOf(about), attributesOf({ ...a, revokedAt }));
      await assertFound(keys, anna, { ...a, revokedAt });
      await assertFound(keys, bert, b);
    }),

    contractCase(subject, 'a second revocation keeps the first time', async (keys) => {
      const [key, about] = draft('Anna');
      const { id } = await keys.add(key, about);
      const first = await keys.revoke(id, about.createdAt + 1);
      assert.deepEqual(await keys.revoke(id, about.createdAt + 2), first);
      assert.equal((await keys.find(key))?.revokedAt, about.createdAt + 1);
    }),

    contractCase(subject, 'revoking an unknown id changes nothing', async (keys) => {
      const anna = draft('Anna');
      const about = await keys.add(...anna);
      for (const unknown of UNKNOWN_IDS) assert.equal(await keys.revoke(unknown, Date.now()), undefined);
      await assertFound(keys, anna, about);
    }),
  ];
}

export function recordingUse(subject: Subject<ApiKeyRepository>): ContractCase[] {
  const today = new Date().setUTCHours(0, 0, 0, 0);
  return [
    contractCase(subject, 'the day of the last use is stored for one key', async (keys) => {
      const [used, unused] = [draft('used'), draft('unused')];
      const [a, b] = [await keys.add(...used), await keys.add(...unused)];
      await keys.setLastUsedOn(a.id, today);
      await assertFound(keys, used, { ...a, lastUsedOn: today });
      await assertFound(keys, unused, b);
      assert.deepEqual(
        (await keys.list()).map(({ lastUsedOn }) => lastUsedOn),
        [today, undefined],
      );
    }),

    contractCase(
      subject,
      'a later day replaces the day of the last use, an earlier one does not',
      async (keys) => {
        const anna = draft('Anna');
        const about = await keys.add(...anna);
        for (const [day, expected] of [
          [today, today],
          [today + DAY, today + DAY],
          [today, today + DAY],
        ] as const) {
          await keys.setLastUsedOn(about.id, day);
          await assertFound(keys, anna, { ...about, lastUsedOn: expected });
        }
      },
    ),

    contractCase(subject, 'a day that is ahead of the clock is replaced', async (keys) => {
      const anna = draft('Anna');
      const about = await keys.add(...anna);
      await keys.setLastUsedOn(about.id, today + 3650 * DAY);
      await keys.setLastUsedOn(about.id, today, today + DAY);
      await assertFound(keys, anna, { ...about, lastUsedOn: today });
    }),

    contractCase(subject, 'the day of the last use of an unknown id changes nothing', async (keys) => {
      const anna = draft('Anna');
      const about = await keys.add(...anna);
      for (const unknown of UNKNOWN_IDS) await keys.setLastUsedOn(unknown, today);
      assert.deepEqual((await keys.list()).map(attributesOf), [attributesOf(about)]);
    }),
  ];
}
