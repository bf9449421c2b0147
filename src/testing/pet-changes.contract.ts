/** The tests (contract cases) that every `PetChanges` must pass, for any test runner. */

import assert from 'node:assert/strict';
import type { ListedVersion, PetChanges, PetVersion } from '../application/ports/pet-changes.ts';
import { INT64_MAX } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import { matches } from '../domain/pet-filter.ts';
import { type ContractCase, contractCase, lastingCase, type Subject, twoClientCase } from './contract.ts';
import type { ChangingStore } from './fixtures/attempts.ts';
import { filtersOf } from './fixtures/filters.ts';
import { addAll, assertPage, samplePet, samplePets, UNUSUAL_NAMES, walk } from './fixtures/pets.ts';

/** Returns all tests that a `PetChanges` must pass. */
export function petChangesContract(subject: Subject<ChangingStore>): ContractCase[] {
  return [
    ...replacing(subject),
    ...removing(subject),
    ...listing(subject),
    ...twoClients(subject),
    ...lasting(subject),
  ];
}

function replacing(subject: Subject<ChangingStore>): ContractCase[] {
  return [
    contractCase(subject, 'a replaced pet is read with all its new attributes', async ({ pets, changes }) => {
      const before = await pets.add(samplePet('Rex'));
      const { id } = before;
      let revision = id;
      for (const name of UNUSUAL_NAMES) {
        const changed = { id, ...samplePet(name, -(2n ** 63n) + 2n) };
        const next = await changes.replace(changed, revision);
        assert.ok(
          next !== undefined && next > revision,
          `expected a revision above ${revision}, got ${next}`,
        );
        revision = next;
        await assertStored({ pets, changes }, changed, revision);
      }
      const changed = (await pets.find(id)) ?? assert.fail('no pet');
      for (const filter of filtersOf(before))
        if (!matches(changed, filter)) await assertPage(pets, { ...filter, limit: 9 }, [], false);
    }),

    contractCase(
      subject,
      'the revision of a pet that has never changed is its id, and of an unknown one there is none',
      async ({ pets, changes }) => {
        const pet = await pets.add(samplePet('Rex'));
        assertVersion(await changes.find(pet.id), pet, pet.id);
        for (const id of [pet.id + 1n, 0n, -1n, INT64_MAX])
          assert.equal(await changes.find(id), undefined, `pet ${id}`);
      },
    ),

    contractCase(subject, 'only the expected revision is replaced or removed', async (store) => {
      const { pets, changes } = store;
      const [pet, other] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
      const changed = { ...pet, ...samplePet('Max') };
      const revision = await assertReplaced(changes, changed, pet.id);
      for (const wrong of [pet.id, other.id, revision + 1n, 0n, INT64_MAX]) {
        assert.equal(await changes.replace({ ...pet, ...samplePet('Kim') }, wrong), undefined, `${wrong}`);
        assert.equal(await changes.remove(pet.id, wrong), undefined, `${wrong}`);
      }
      assert.equal(await changes.replace({ ...pet, id: other.id + 7n }, other.id + 7n), undefined);
      for (const wrong of [pet.id, revision, 0n, INT64_MAX])
        assert.equal(await changes.replace({ ...pet, id: other.id }, wrong), undefined, `${wrong}`);
      await assertStored(store, changed, revision);
      await assertStored(store, other, other.id);
    }),

    contractCase(
      subject,
      'creates, changes and removals take ascending numbers from one counter, and a refused write takes none',
      async ({ pets, changes }) => {
        const first = await pets.add(samplePet('first'));
        const changed = await assertReplaced(changes, { ...first, ...samplePet('Max') }, first.id);
        assert.equal(await changes.replace({ ...first, ...samplePet('Kim') }, first.id), undefined);
        const second = await pets.add(samplePet('second'));
        const removed = (await changes.remove(first.id, changed)) ?? assert.fail('not removed');
        const third = await pets.add(samplePet('third'));
        const numbers = [first.id, changed, second.id, removed, third.id];
        assert.deepEqual(
          numbers,
          numbers.toSorted((a, b) => (a < b ? -1 : 1)),
        );
        assert.equal(new Set(numbers).size, 5);
        assert.equal((await changes.list({ limit: 9 })).lastNumber, third.id);
      },
    ),

    contractCase(subject, 'of 50 concurrent writers of one version, one succeeds', async (store) => {
      const { pets, changes } = store;
      const pet = await pets.add(samplePet('Rex'));
      const names = Array.from({ length: 50 }, (_, index) => `pet ${index}`);
      const results = await Promise.all(
        names.map((name) => changes.replace({ ...pet, ...samplePet(name) }, pet.id)),
      );
      const winner = results.findIndex((revision) => revision !== undefined);
      assert.equal(results.filter((revision) => revision !== undefined).length, 1);
      await assertStored(store, { ...pet, ...samplePet(`pet ${winner}`) }, results[winner] as bigint);
    }),

    contractCase(
      subject,
      'changing the input after the call does not change the stored pet',
      async (store) => {
        const pet = await store.pets.add(samplePet('Rex'));
        const input = { ...pet, ...samplePet('Max') };
        const replacing = store.changes.replace(input, pet.id);
        Object.assign(input, samplePet('Kim', 2n));
        await assertStored(store, { ...pet, ...samplePet('Max') }, (await replacing) ?? assert.fail());
      },
    ),

    contractCase(subject, 'found and listed versions have frozen pets', async ({ pets, changes }) => {
      const pet = await pets.add(samplePet('Rex'));
      await assertReplaced(changes, { ...pet, ...samplePet('Max') }, pet.id);
      const listed = (await changes.list({ limit: 1 })).versions[0];
      for (const version of [await changes.find(pet.id), listed])
        assert.ok(Object.isFrozen(version?.pet), 'expected a frozen pet');
    }),
  ];
}

function removing(subject: Subject<ChangingStore>): ContractCase[] {
  return [
    contractCase(subject, 'a removed pet is in no list, and its id is not assigned again', async (store) => {
      const { pets, changes } = store;
      const [first, last] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
      const removed = (await changes.remove(last.id, last.id)) ?? assert.fail('not removed');
      assert.equal(await pets.find(last.id), undefined);
      assert.deepEqual(await walk(pets, { limit: 1 }), [first]);
      for (const filter of filtersOf(last))
        await assertPage(pets, { ...filter, limit: 9 }, matches(first, filter) ? [first] : [], false);
      assertVersion(await changes.find(last.id), undefined, removed);
      const next = await pets.add(samplePet('next'));
      assert.ok(next.id > removed, `expected an id above ${removed}, got ${next.id}`);
    }),

    contractCase(
      subject,
      'a removed pet is neither replaced nor removed again',
      async ({ pets, changes }) => {
        const pet = await pets.add(samplePet('Rex'));
        const removed = (await changes.remove(pet.id, pet.id)) ?? assert.fail('not removed');
        for (const expected of [pet.id, removed]) {
          assert.equal(await changes.replace(pet, expected), undefined, `${expected}`);
          assert.equal(await changes.remove(pet.id, expected), undefined, `${expected}`);
        }
        assert.equal(await pets.find(pet.id), undefined);
      },
    ),
  ];
}

function listing(subject: Subject<ChangingStore>): ContractCase[] {
  return [
    contractCase(
      subject,
      'the feed has the newest version of each pet, in the order of writes',
      async (store) => {
        const { pets, changes } = store;
        const added = await addAll(pets, samplePets(6));
        const [a, , c, d] = added as [Pet, Pet, Pet, Pet];
        const changedA = { ...a, ...samplePet('changed') };
        const first = await assertReplaced(changes, changedA, a.id);
        const removed = (await changes.remove(c.id, c.id)) ?? assert.fail('not removed');
        const changedD = { ...d, ...samplePet('changed', 2n) };
        const second = await assertReplaced(changes, changedD, d.id);
        const expected: readonly ListedVersion[] = [
          ...added
            .filter(({ id }) => ![a.id, c.id, d.id].includes(id))
            .map((pet) => ({ id: pet.id, pet, revision: pet.id })),
          { id: a.id, pet: changedA, revision: first },
          { id: c.id, pet: undefined, revision: removed },
          { id: d.id, pet: changedD, revision: second },
        ];
        for (const limit of [1, 2, 5, 6, 7, 100]) assertVersions(await follow(changes, limit), expected);
        const { epoch, lastNumber } = await changes.list({ limit: 1 });
        assert.match(epoch, /^[0-9a-f]{16}$/);
        assert.equal(lastNumber, second);
      },
    ),

    contractCase(subject, 'another store has another epoch', async ({ changes }) => {
      const other = await subject.open();
      const [own, others] = [await changes.list({ limit: 1 }), await other.port.changes.list({ limit: 1 })];
      await other.close();
      assert.notEqual(own.epoch, others.epoch);
    }),

    contractCase(subject, 'the feed of an empty store is empty', async ({ changes }) => {
      const { versions, upTo, more, lastNumber } = await changes.list({ limit: 9 });
      assert.deepEqual([versions, upTo, more, lastNumber], [[], 0n, false, 0n]);
    }),

    contractCase(
      subject,
      'after the last version, there is nothing until the next write',
      async ({ pets, changes }) => {
        const pet = await pets.add(samplePet('Rex'));
        const { upTo } = await changes.list({ limit: 9 });
        assert.equal(upTo, pet.id);
        const empty = await changes.list({ limit: 9, after: upTo });
        assert.deepEqual([empty.versions, empty.upTo, empty.more], [[], upTo, false]);
        const revision = await assertReplaced(changes, { ...pet, ...samplePet('Max') }, pet.id);
        const { versions } = await changes.list({ limit: 9, after: upTo });
        assert.deepEqual(
          versions.map((version) => version.revision),
          [revision],
        );
      },
    ),
  ];
}

function twoClients(subject: Subject<ChangingStore>): ContractCase[] {
  return [
    ...twoClientCase(
      subject,
      'a change of one client is seen by another one',
      async (one, two, eventually) => {
        const pet = await one.pets.add(samplePet('Rex'));
        await eventually(async () => (await two.changes.find(pet.id)) !== undefined);
        await two.pets.list({ limit: 9 });
        const changed = { ...pet, ...samplePet('Max', 2n) };
        const revision = await assertReplaced(one.changes, changed, pet.id);
        await eventually(async () => (await two.changes.find(pet.id))?.revision === revision);
        await assertStored(two, changed, revision);
        assert.deepEqual((await two.pets.list({ limit: 9 })).pets, [changed]);
        assert.equal(
          (await two.changes.list({ limit: 9 })).epoch,
          (await one.changes.list({ limit: 9 })).epoch,
        );
      },
    ),
  ];
}

function lasting(subject: Subject<ChangingStore>): ContractCase[] {
  return [
    ...lastingCase(
      subject,
      'changes, removals, numbers and the epoch survive a restart',
      async ({ pets, changes }) => {
        const [pet, other] = (await addAll(pets, samplePets(2))) as [Pet, Pet];
        await assertReplaced(changes, { ...pet, ...samplePet('Max') }, pet.id);
        await changes.remove(other.id, other.id);
        return await changes.list({ limit: 9 });
      },
      async ({ pets, changes }, before) => {
        assert.deepEqual(await changes.list({ limit: 9 }), before);
        const { id } = await pets.add(samplePet('next'));
        assert.ok(id > before.lastNumber, `expected an id above ${before.lastNumber}, got ${id}`);
      },
    ),
  ];
}

async function follow(changes: PetChanges, limit: number): Promise<readonly ListedVersion[]> {
  const all: ListedVersion[] = [];
  for (let after = 0n; ; ) {
    const { versions, upTo, more } = await changes.list({ after, limit });
    all.push(...versions);
    if (!more) return all;
    assert.ok(upTo > after, `the page after ${after} did not move`);
    after = upTo;
  }
}

async function assertReplaced(changes: PetChanges, pet: Pet, expected: bigint): Promise<bigint> {
  return (await changes.replace(pet, expected)) ?? assert.fail(`pet ${pet.id} was not replaced`);
}

async function assertStored({ pets, changes }: ChangingStore, pet: Pet, revision: bigint): Promise<void> {
  assert.deepEqual(await pets.find(pet.id), pet);
  assertVersion(await changes.find(pet.id), pet, revision);
  for (const filter of filtersOf(pet))
    assert.deepEqual((await pets.list({ ...filter, limit: 1, after: pet.id - 1n })).pets, [pet]);
}

function assertVersion(version: PetVersion | undefined, pet: Pet | undefined, revision: bigint): void {
  assert.deepEqual({ pet: version?.pet, revision: version?.revision }, { pet, revision });
}

function assertVersions(actual: readonly ListedVersion[], expected: readonly ListedVersion[]): void {
  assert.deepEqual(
    actual.map(({ id, pet, revision }) => ({ id, pet, revision })),
    expected,
  );
}
