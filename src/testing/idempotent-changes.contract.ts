/** The tests (contract cases) that every `IdempotentChanges` must pass, for any test runner. */

import assert from 'node:assert/strict';
import type { AttemptState, ChangeAttempt } from '../application/ports/idempotent-changes.ts';
import type { Pet } from '../domain/pet.ts';
import { assertFrozen, type ContractCase, contractCases, type Subject, twoClientCases } from './contract.ts';
import { assertVersion, attempt, attemptOf, type IdempotentChangingStore } from './fixtures/attempts.ts';
import { addAll, numberedPet, numberOf, samplePet, samplePets, UNUSUAL_NAMES } from './fixtures/pets.ts';
import { petChangesContract } from './pet-changes.contract.ts';

/** Returns all tests that an `IdempotentChanges` must pass. */
export function idempotentChangesContract(subject: Subject<IdempotentChangingStore>): ContractCase[] {
  const open = async () => {
    const opened = await subject.open();
    const port = { pets: opened.port.pets, changes: withKeys(opened.port) };
    return { port, close: () => opened.close() };
  };
  const keyed = petChangesContract({ open, caseTimeout: subject.caseTimeout });
  return [
    ...recording(subject),
    ...racing(subject),
    ...keyed.map(({ name, run }) => ({ name: `${name} (with keys)`, run })),
  ];
}

/** Returns `PetChanges` that write with new idempotency keys, and assert that exactly the successful writes leave a record. */
function withKeys({
  changes,
  idempotentChanges,
}: IdempotentChangingStore): IdempotentChangingStore['changes'] {
  const write = async (id: bigint, send: (by: ChangeAttempt) => Promise<bigint | undefined>) => {
    const by = attemptOf(crypto.randomUUID());
    const revision = await send(by);
    assert.equal((await idempotentChanges.find(id, by)).record === undefined, revision === undefined);
    return revision;
  };
  return {
    find: (id) => changes.find(id),
    list: (query) => changes.list(query),
    replace: (pet, expected) => write(pet.id, (by) => idempotentChanges.replace(pet, expected, by)),
    remove: (id, expected) => write(id, (by) => idempotentChanges.remove(id, expected, by)),
  };
}

function recording(subject: Subject<IdempotentChangingStore>): ContractCase[] {
  return contractCases(subject, {
    'a version is found with all records, which keep their first responses': async (store) => {
      const { pets, idempotentCreates, idempotentChanges: writes } = store;
      const create = () => idempotentCreates.add(samplePet('Rex'), attempt('create'));
      const { pet } = await create();
      const { id } = pet;
      const responses = new Map<string, Pet | undefined>([['create', pet]]);
      await writes.record(id, pet, attemptOf('nothing', 'nothing'));
      responses.set('nothing', pet);
      let revision = id;
      for (const name of [...UNUSUAL_NAMES, undefined]) {
        const changed = name === undefined ? undefined : { id, ...samplePet(name, -7n) };
        const by = attemptOf(`${responses.size}`, `${responses.size}`);
        assert.equal((await writes.find(id, by)).record, undefined);
        const written = changed ? writes.replace(changed, revision, by) : writes.remove(id, revision, by);
        revision = (await written) ?? assert.fail(`change ${by.key} was not made`);
        responses.set(by.key, changed);
        for (const [key, response] of responses) {
          const { record, version } = await writes.find(id, attemptOf(key));
          assert.deepEqual([record?.request, record?.pet], [key, response]);
          assertVersion(version, changed, revision);
        }
        const replayed = await create();
        assert.deepEqual(replayed, { pet, isReplay: true });
        assertFrozen(replayed.pet, 'the pet of a replay');
      }
      assert.equal(await pets.find(id), undefined);
    },

    'a write and its record become visible together': async ({ pets, idempotentChanges: writes }) => {
      const pet = await pets.add(samplePet('Rex'));
      for (let [round, before] = [0, pet.id]; round < 20; round += 1) {
        const by = attemptOf(`${round}`);
        const found: AttemptState[] = [];
        let isWriting = true;
        const find = async () => {
          do found.push(await writes.find(pet.id, by));
          while (isWriting);
        };
        const replace = () => writes.replace(pet, before, by).finally(() => (isWriting = false));
        const [, after = 0n] = await Promise.all([find(), replace()]);
        for (const { record, version } of found) assert.equal(version?.revision, record ? after : before);
        before = after;
      }
    },

    'with a valid record of the key, nothing is changed': async (store) => {
      const { pets, idempotentChanges: writes } = store;
      const [pet, other] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
      const changed = { ...pet, ...samplePet('Max') };
      const revision = await writes.replace(changed, pet.id, attemptOf('a', 'first'));
      for (const by of [attemptOf('a', 'first'), attemptOf('a', 'second')]) {
        assert.equal(await writes.replace({ ...pet, ...samplePet('Kim') }, revision ?? 0n, by), undefined);
        assert.equal(await writes.remove(other.id, other.id, by), undefined);
        assert.equal(await writes.record(other.id, other, by), false);
      }
      assert.deepEqual(await pets.find(pet.id), changed);
      assert.deepEqual(await pets.find(other.id), other);
      assert.equal((await writes.find(pet.id, attemptOf('a'))).record?.request, 'first');
    },

    'a request that changes nothing has a record, and takes no number': async (store) => {
      const { pets, changes, idempotentChanges: writes } = store;
      const pet = await pets.add(samplePet('Rex'));
      assert.equal(await writes.record(pet.id, pet, attemptOf('a', 'nothing')), true);
      assert.equal(await writes.record(pet.id + 7n, undefined, attemptOf('b', 'removed')), true);
      const [{ record }, { record: removed }] = [
        await writes.find(pet.id, attemptOf('a')),
        await writes.find(pet.id, attemptOf('b')),
      ];
      assert.deepEqual([record?.request, record?.pet], ['nothing', pet]);
      assert.deepEqual([removed?.request, removed?.pet], ['removed', undefined]);
      assert.equal((await changes.find(pet.id))?.revision, pet.id);
      assert.equal((await changes.list({ limit: 1 })).lastNumber, pet.id);
    },

    'found pets are frozen, and changing the input after the call changes none of them': async (store) => {
      const { pets, idempotentChanges: writes } = store;
      const { id } = await pets.add(samplePet('Rex'));
      const given = { id, ...samplePet('Max') };
      const input = { ...given };
      const writing = [writes.record(id, input, attemptOf('a')), writes.replace(input, id, attemptOf('b'))];
      Object.assign(input, samplePet('Kim', 2n));
      await Promise.all(writing);
      for (const key of ['a', 'b']) {
        const { record, version } = await writes.find(id, attemptOf(key));
        for (const found of [record?.pet, version?.pet]) {
          assert.deepEqual(found, given);
          assertFrozen(found, 'the pet of a record and of a version');
        }
      }
    },

    'creates and changes share the keys of a caller': async (store) => {
      const { pets, idempotentCreates, idempotentChanges: writes } = store;
      const { pet } = await idempotentCreates.add(samplePet('Rex'), attempt('create'));
      const changed = { ...pet, ...samplePet('Max') };
      assert.equal(await writes.replace(changed, pet.id, attemptOf('create')), undefined);
      const { record } = await writes.find(pet.id, attemptOf('create'));
      assert.deepEqual([record?.request, record?.pet], ['create', pet]);
      await writes.replace(changed, pet.id, attemptOf('change'));
      await writes.record(pet.id + 7n, undefined, attemptOf('removal'));
      for (const key of ['change', 'removal']) {
        const create = idempotentCreates.add(samplePet('Max'), attempt(key));
        await assert.rejects(create, { code: 'idempotency_conflict' }, key);
      }
      // Another caller has its own keys, even if its name and key, concatenated, form the same text as those of caller `1`.
      for (const other of [attempt('change', '2'), attempt('hange', '1c'), attempt('chang', 'e1')]) {
        assert.equal((await writes.find(pet.id, { ...other, request: 'change' })).record, undefined);
        assert.equal((await idempotentCreates.add(samplePet('Max'), other)).isReplay, false);
      }
      assert.equal((await pets.list({ limit: 9 })).pets.length, 4);
    },

    'a record that has ended is replaced': async (store) => {
      const { pets, idempotentCreates, idempotentChanges: writes } = store;
      const pet = await pets.add(samplePet('Rex'));
      await writes.record(pet.id, pet, { ...attemptOf('a', 'old'), validFor: -1 });
      assert.equal((await writes.find(pet.id, attemptOf('a'))).record, undefined);
      const create = idempotentCreates.add(samplePet('Max'), attempt('a', '1', -1));
      assert.equal((await create).isReplay, false);
      const changed = { ...pet, ...samplePet('Max') };
      assert.notEqual(await writes.replace(changed, pet.id, attemptOf('a', 'new')), undefined);
      assert.equal((await writes.find(pet.id, attemptOf('a'))).record?.request, 'new');
    },
  });
}

function racing(subject: Subject<IdempotentChangingStore>): ContractCase[] {
  return [
    ...contractCases(subject, {
      'a hundred increments, each sent twice with its key, end at a hundred': async (store) => {
        const { id } = await store.pets.add(numberedPet(0n));
        const work = Array.from({ length: 10 }, async (_, client) => {
          for (const key of Array.from({ length: 10 }, (_, count) => `${client}-${count}`))
            await Promise.all([increment(store, id, key), increment(store, id, key)]);
        });
        await Promise.all(work);
        const pet = (await store.pets.find(id)) ?? assert.fail(`there is no pet ${id}`);
        assert.equal(numberOf(pet), 100n);
      },

      'of two writes of one version or key, one is made': async ({ pets, idempotentChanges: writes }) => {
        const [a, b, c, d] = (await addAll(pets, samplePets(4))) as [Pet, Pet, Pet, Pet];
        const change = (pet: Pet, key: string) =>
          writes.replace({ ...pet, ...samplePet('Max') }, pet.id, attemptOf(key));
        const remove = ({ id }: Pet, key: string) => writes.remove(id, id, attemptOf(key));
        const record = (pet: Pet, key: string) => writes.record(pet.id, pet, attemptOf(key));
        const races = [
          [remove(a, 'one'), change(a, 'other')],
          [record(b, 'b'), change(b, 'b')],
          [remove(c, 'c'), record(c, 'c')],
          [record(d, 'd'), record(d, 'd')],
        ];
        for (const [index, race] of races.entries())
          assert.equal((await Promise.all(race)).filter(Boolean).length, 1, `race ${index}`);
      },
    }),
    ...twoClientCases(subject, {
      'increments sent to two clients with the same keys are made once': async (one, two, eventually) => {
        const { id } = await one.pets.add(numberedPet(0n));
        await eventually(async () => (await two.changes.find(id)) !== undefined);
        const keys = Array.from({ length: 25 }, (_, index) => `key-${index}`);
        await Promise.all(keys.flatMap((key) => [increment(one, id, key), increment(two, id, key)]));
        await eventually(async () => {
          const pet = await one.pets.find(id);
          return pet !== undefined && numberOf(pet) === 25n;
        });
      },
    }),
  ];
}

async function increment(
  { idempotentChanges: writes }: IdempotentChangingStore,
  id: bigint,
  key: string,
): Promise<void> {
  for (const by = attemptOf(key, `increment ${id}`); ; ) {
    const { record, version } = await writes.find(id, by);
    if (record !== undefined) return;
    const pet = version?.pet ?? assert.fail(`there is no pet ${id}`);
    const next = { ...pet, ...numberedPet(numberOf(pet) + 1n) };
    if ((await writes.replace(next, version?.revision ?? 0n, by)) !== undefined) return;
  }
}
