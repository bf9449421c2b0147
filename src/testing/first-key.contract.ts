/** The tests (contract cases) of `ApiKeyRepository` for saving the first key. */

import assert from 'node:assert/strict';
import { nextTurn } from '../application/pause.ts';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import { type ContractCase, contractCases, type Subject, twoClientCases } from './contract.ts';
import { assertFound, assertNew, attributesOf, type Draft, draft, namesOf } from './fixtures/keys.ts';

export function savingFirst(subject: Subject<ApiKeyRepository>): ContractCase[] {
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
        assertNew(about, first);
        await assertFound(keys, first, about);
      },

      'addFirst saves no key when the store has one': async (keys) => {
        await keys.add(...draft('first'));
        assert.equal(await keys.addFirst(...draft('second'), () => assert.fail()), undefined);
        assert.deepEqual(await namesOf(keys), ['first']);
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

      'of 20 concurrent calls of addFirst, one saves and adds its key': async (keys) => {
        const saved: string[] = [];
        const drafts = Array.from({ length: 20 }, (_, index) => draft(`racer ${index}`));
        const added = await Promise.all(drafts.map((each) => addSlowly(keys, each, saved)));
        assert.equal(saved.length, 1);
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

/** Adds a first key that takes several turns of the event loop to save. */
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
