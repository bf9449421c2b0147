/** The tests (contract cases) that every `PetChanges` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { INT64_MAX } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import { matches } from '../domain/pet-filter.ts';
import { type ContractCase, contractCases, lastingCase, type Subject, twoClientCases } from './contract.ts';
import { assertReplaced, assertVersion, type ChangingStore } from './fixtures/attempts.ts';
import { filtersOf } from './fixtures/filters.ts';
import {
  addAll,
  assertAscending,
  assertPage,
  samplePet,
  samplePets,
  UNUSUAL_NAMES,
} from './fixtures/pets.ts';
import { listingChanges } from './pet-changes-feed.contract.ts';

/** Returns all tests that a `PetChanges` must pass. */
export function petChangesContract(subject: Subject<ChangingStore>): ContractCase[] {
  return [...oneClient(subject), ...listingChanges(subject), ...twoClients(subject), ...lasting(subject)];
}

function oneClient(subject: Subject<ChangingStore>): ContractCase[] {
  return contractCases(subject, {
    'a replaced pet is read with all its new attributes': async ({ pets, changes }) => {
      const before = await pets.add(samplePet('Rex'));
      const { id } = before;
      let revision = id;
      for (const [index, name] of UNUSUAL_NAMES.entries()) {
        const changed = { id, ...samplePet(name, -(2n ** 63n) + 2n + BigInt(index)) };
        const next = await assertReplaced(changes, changed, revision);
        assertAscending([{ id: revision }, { id: next }]);
        revision = next;
        await assertStored({ pets, changes }, changed, revision);
      }
      const changed = (await pets.find(id)) ?? assert.fail('no pet');
      for (const filter of filtersOf(before))
        if (!matches(changed, filter)) await assertPage(pets, { ...filter, limit: 9 }, [], false);
    },

    'only the expected revision of a known pet, at first its id, is replaced or removed': async (store) => {
      const { pets, changes } = store;
      const [pet, other] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
      const changed = { ...pet, ...samplePet('Max') };
      const revision = await assertReplaced(changes, changed, pet.id);
      for (const wrong of [pet.id, other.id, revision + 1n, 0n, INT64_MAX]) {
        assert.equal(await changes.replace({ ...pet, ...samplePet('Kim') }, wrong), undefined, `${wrong}`);
        assert.equal(await changes.remove(pet.id, wrong), undefined, `${wrong}`);
      }
      for (const id of [revision, revision + 7n, 0n, -1n, INT64_MAX]) {
        assert.equal(await changes.find(id), undefined, `pet ${id}`);
        assert.equal(await changes.replace({ ...pet, id }, id), undefined, `pet ${id}`);
      }
      for (const wrong of [pet.id, revision, 0n, INT64_MAX])
        assert.equal(await changes.replace({ ...pet, id: other.id }, wrong), undefined, `${wrong}`);
      await assertStored(store, changed, revision);
      await assertStored(store, other, other.id);
    },

    'creates, changes and removals take ascending numbers from one counter': async ({ pets, changes }) => {
      const first = await pets.add(samplePet('first'));
      const changed = await assertReplaced(changes, first, first.id);
      assert.equal(await changes.replace({ ...first, ...samplePet('Kim') }, first.id), undefined);
      const second = await pets.add(samplePet('second'));
      const removed = (await changes.remove(first.id, changed)) ?? assert.fail('not removed');
      assert.equal((await changes.list({ limit: 9 })).lastNumber, removed);
      const third = await pets.add(samplePet('third'));
      assertAscending([first, { id: changed }, second, { id: removed }, third]);
    },

    'of 50 concurrent writers of one version, one succeeds': async (store) => {
      const { pets, changes } = store;
      const pet = await pets.add(samplePet('Rex'));
      const names = Array.from({ length: 50 }, (_, index) => `pet ${index}`);
      const results = await Promise.all(
        names.map((name) => changes.replace({ ...pet, ...samplePet(name) }, pet.id)),
      );
      const winner = results.findIndex((revision) => revision !== undefined);
      assert.equal(results.filter((revision) => revision !== undefined).length, 1);
      await assertStored(store, { ...pet, ...samplePet(`pet ${winner}`) }, results[winner] as bigint);
    },

    'changing the input after the call does not change the stored pet': async (store) => {
      const pet = await store.pets.add(samplePet('Rex'));
      const input = { ...pet, ...samplePet('Max') };
      const replacing = store.changes.replace(input, pet.id);
      Object.assign(input, samplePet('Kim', 2n));
      await assertStored(store, { ...pet, ...samplePet('Max') }, (await replacing) ?? assert.fail());
    },

    'a removed pet is in no list and not written again, and its id is not assigned again': async (store) => {
      const { pets, changes } = store;
      const [first, last] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
      const removed = (await changes.remove(last.id, last.id)) ?? assert.fail('not removed');
      await assertPage(pets, { limit: 1 }, [first], false);
      for (const filter of filtersOf(last))
        await assertPage(pets, { ...filter, limit: 9 }, matches(first, filter) ? [first] : [], false);
      for (const expected of [last.id, removed]) {
        assert.equal(await changes.replace(last, expected), undefined, `${expected}`);
        assert.equal(await changes.remove(last.id, expected), undefined, `${expected}`);
      }
      assert.equal(await pets.find(last.id), undefined);
      assertVersion(await changes.find(last.id), undefined, removed);
      const next = await pets.add(samplePet('next'));
      assert.ok(next.id > removed, `expected an id above ${removed}, got ${next.id}`);
    },

    'a list after the id of a removed pet begins with the next pet': async ({ pets, changes }) => {
      const [first, removed, next] = (await addAll(pets, samplePets(3))) as [Pet, Pet, Pet];
      await changes.remove(removed.id, removed.id);
      for (const filter of filtersOf(next)) {
        for (const { id: after } of [first, removed])
          await assertPage(pets, { ...filter, limit: 1, after }, [next], false);
      }
    },
  });
}

function twoClients(subject: Subject<ChangingStore>): ContractCase[] {
  return twoClientCases(subject, {
    'a change and a removal of one client are seen by another one': async (one, two, eventually) => {
      const pet = await one.pets.add(samplePet('Rex'));
      await eventually(async () => (await two.changes.find(pet.id)) !== undefined);
      await two.pets.list({ limit: 9 });
      await one.changes.beginEpoch?.();
      const changed = { ...pet, ...samplePet('Max', 2n) };
      const revision = await assertReplaced(one.changes, changed, pet.id);
      await eventually(async () => (await two.changes.find(pet.id))?.revision === revision);
      await assertStored(two, changed, revision);
      assert.deepEqual((await two.pets.list({ limit: 9 })).pets, [changed]);
      const removed = await one.changes.remove(pet.id, revision);
      await eventually(async () => (await two.changes.find(pet.id))?.revision === removed);
      assert.equal(await two.pets.find(pet.id), undefined);
      assert.deepEqual((await two.pets.list({ limit: 9 })).pets, []);
      assert.deepEqual(await two.changes.list({ limit: 9 }), await one.changes.list({ limit: 9 }));
    },
  });
}

function lasting(subject: Subject<ChangingStore>): ContractCase[] {
  return lastingCase(
    subject,
    'changes, removals, numbers and the epoch survive a restart',
    async ({ pets, changes }) => {
      const [pet, other] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
      await assertReplaced(changes, { ...pet, ...samplePet('Max') }, pet.id);
      await changes.remove(other.id, other.id);
      await changes.beginEpoch?.();
      return await changes.list({ limit: 9 });
    },
    async ({ pets, changes }, before) => {
      assert.deepEqual(await changes.list({ limit: 9 }), before);
      const { id } = await pets.add(samplePet('next'));
      assert.ok(id > before.lastNumber, `expected an id above ${before.lastNumber}, got ${id}`);
    },
  );
}

async function assertStored({ pets, changes }: ChangingStore, pet: Pet, revision: bigint): Promise<void> {
  assert.deepEqual(await pets.find(pet.id), pet);
  assertVersion(await changes.find(pet.id), pet, revision);
  for (const filter of filtersOf(pet))
    assert.deepEqual((await pets.list({ ...filter, limit: 1, after: pet.id - 1n })).pets, [pet]);
}
