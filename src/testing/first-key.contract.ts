/** The tests (contract cases) of `ApiKeyRepository` for saving the first key. */

import assert from 'node:assert/strict';
import { nextTurn } from '../application/pause.ts';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import { type ContractCase, contractCase, type Subject, twoClientCase } from './contract.ts';
import { assertFound, assertNew, draft, namesOf } from './fixtures/keys.ts';

export function savingFirst(subject: Subject<ApiKeyRepository>): ContractCase[] {
  return [
    contractCase(subject, 'addFirst saves the key before it is stored', async (keys) => {
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
    }),

    contractCase(subject, 'addFirst saves no key when the store has one', async (keys) => {
      await keys.add(...draft('first'));
      assert.equal(await keys.addFirst(...draft('second'), () => assert.fail()), undefined);
      assert.deepEqual(await namesOf(keys), ['first']);
    }),

    contractCase(subject, 'addFirst stores nothing when saving fails', async (keys) => {
      const reason = new Error('the disk is full');
      const fail = () => {
        throw reason;
      };
      for (const save of [fail, () => Promise.reject(reason)]) {
        await assert.rejects(keys.addFirst(...draft('first'), save), (error) => error === reason);
      }
      assert.deepEqual(await namesOf(keys), []);
      assert.ok(await keys.addFirst(...draft('first')), 'expected a first key in an empty store');
    }),

    contractCase(subject, 'of 20 concurrent calls of addFirst, one saves and adds its key', async (keys) => {
      const saved: string[] = [];
      const names = Array.from({ length: 20 }, (_, index) => `racer ${index}`);
      await Promise.all(names.map((name) => addSlowly(keys, name, saved)));
      assert.equal(saved.length, 1);
      assert.deepEqual(await namesOf(keys), saved);
    }),

    ...twoClientCase(
      subject,
      'of two clients that call addFirst concurrently, one saves its key',
      async (one, two) => {
        const saved: string[] = [];
        await Promise.all([addSlowly(one, 'one', saved), addSlowly(two, 'two', saved)]);
        assert.equal(saved.length, 1);
        assert.deepEqual(await namesOf(one), saved);
      },
    ),
  ];
}

/** Adds a first key that takes several turns of the event loop to save. */
async function addSlowly(keys: ApiKeyRepository, name: string, saved: string[]): Promise<void> {
  await keys.addFirst(...draft(name), async () => {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    saved.push(name);
  });
}
