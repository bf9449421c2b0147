/** The tests (contract cases) of `PetChanges` for the feed of changes. */

import assert from 'node:assert/strict';
import type { ListedVersion, PetChanges } from '../application/ports/pet-changes.ts';
import type { Pet } from '../domain/pet.ts';
import { assertFrozen, type ContractCase, contractCases, type Subject } from './contract.ts';
import { assertReplaced, type ChangingStore } from './fixtures/attempts.ts';
import { addAll, samplePet, samplePets } from './fixtures/pets.ts';

/** Returns the tests for the feed of changes. */
export function listingChanges(subject: Subject<ChangingStore>): ContractCase[] {
  return contractCases(subject, {
    'the feed has the newest version of each pet, in the order of writes': async (store) => {
      const { pets, changes } = store;
      const [a, b, c, d, ...others] = (await addAll(pets, samplePets(6))) as [Pet, Pet, Pet, Pet, ...Pet[]];
      const changedA = { ...a, ...samplePet('changed') };
      const first = await assertReplaced(changes, changedA, a.id);
      const removed = (await changes.remove(c.id, c.id)) ?? assert.fail('not removed');
      const changedD = { ...d, ...samplePet('changed', 2n) };
      const second = await assertReplaced(changes, changedD, d.id);
      const last = await pets.add(samplePet('last'));
      const expected: readonly ListedVersion[] = [
        ...[b, ...others].map((pet) => ({ id: pet.id, pet, revision: pet.id })),
        { id: a.id, pet: changedA, revision: first },
        { id: c.id, pet: undefined, revision: removed },
        { id: d.id, pet: changedD, revision: second },
        { id: last.id, pet: last, revision: last.id },
      ];
      for (const limit of [1, 2, 5, 6, 7, 100]) assert.deepEqual(await follow(changes, limit), expected);
      const { epoch, lastNumber } = await changes.list({ limit: 1 });
      assert.match(epoch, /^[0-9a-f]{16}$/);
      assert.equal(lastNumber, last.id);
    },

    'another store has another epoch': async ({ changes }) => {
      const other = await subject.open();
      const [own, others] = [await changes.list({ limit: 1 }), await other.port.changes.list({ limit: 1 })];
      await other.close();
      assert.notEqual(own.epoch, others.epoch);
    },

    'a new epoch differs from all earlier ones, and has the same versions': async ({ pets, changes }) => {
      if (changes.beginEpoch === undefined) return;
      await addAll(pets, samplePets(3));
      const { epoch: first, ...feed } = await changes.list({ limit: 9 });
      for (const earlier = [first]; earlier.length < 3; ) {
        await changes.beginEpoch();
        const { epoch, ...same } = await changes.list({ limit: 9 });
        assert.match(epoch, /^[0-9a-f]{16}$/);
        assert.ok(
          !earlier.includes(epoch),
          `beginEpoch has kept or repeated epoch ${earlier.indexOf(epoch)}`,
        );
        assert.deepEqual(same, feed);
        earlier.push(epoch);
      }
    },

    'before the first and after the last version, there is nothing until the next write': async (store) => {
      const { pets, changes } = store;
      const first = await changes.list({ limit: 9 });
      assert.deepEqual([first.versions, first.upTo, first.more, first.lastNumber], [[], 0n, false, 0n]);
      const pet = await pets.add(samplePet('Rex'));
      const { upTo } = await changes.list({ limit: 9 });
      assert.equal(upTo, pet.id);
      const empty = await changes.list({ limit: 9, after: upTo });
      assert.deepEqual([empty.versions, empty.upTo, empty.more], [[], upTo, false]);
      const revision = await assertReplaced(changes, { ...pet, ...samplePet('Max') }, pet.id);
      const next = await follow(changes, 9, upTo);
      assert.deepEqual(
        next.map((version) => version.revision),
        [revision],
      );
    },
  });
}

/** Reads all pages of the feed. A page can be short, or even empty, although more pages follow. */
export async function follow(changes: PetChanges, limit: number, from = 0n): Promise<ListedVersion[]> {
  const all: ListedVersion[] = [];
  for (let after = from; ; ) {
    const { versions, upTo, more, lastNumber } = await changes.list({ after, limit });
    for (const { pet } of versions) assertFrozen(pet, 'a pet of the feed');
    assert.ok(versions.length > 0 || more || after === from, `no promised change follows ${after}`);
    assert.ok(versions.length <= limit, `a page with limit ${limit} has ${versions.length} versions`);
    all.push(...versions.map(({ id, pet, revision }) => ({ id, pet, revision })));
    const last = versions.at(-1)?.revision ?? after;
    assert.ok(
      upTo >= last && (upTo === after || upTo <= lastNumber),
      `a page after ${after} ends at ${upTo}`,
    );
    if (!more) return all;
    assert.ok(upTo > after, `the page after ${after} did not move`);
    after = upTo;
  }
}
