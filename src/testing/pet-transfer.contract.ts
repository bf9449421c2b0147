/** The tests (contract cases) that every `PetTransfer` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { INT64_MAX, INT64_MIN } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import { matches } from '../domain/pet-filter.ts';
import { type ContractCase, contractCases, lastingCase, type Subject, twoClientCases } from './contract.ts';
import { filterablePets, SAMPLE_FILTERS } from './fixtures/filters.ts';
import { addAll, samplePet, samplePets, walk, whileWriting } from './fixtures/pets.ts';
import { exported, importPets, inBatches, type TransferStore } from './fixtures/transfers.ts';
import { failingImports, importingPets } from './pet-import.contract.ts';

export type { TransferStore } from './fixtures/transfers.ts';

/** Returns all tests that a `PetTransfer` must pass. */
export function petTransferContract(subject: Subject<TransferStore>): ContractCase[] {
  return [
    ...importingPets(subject),
    ...failingImports(subject),
    ...exportingPets(subject),
    ...twoClientCases(subject, {
      'another client sees all pets of an import, or none': async (one, two, eventually) => {
        const count = async () => (await exported(two.transfer)).length;
        const before = await count();
        const counting: Promise<number>[] = [];
        await importPets(one, inBatches(samplePets(1500)), { onProgress: () => counting.push(count()) });
        await eventually(async () => (await count()) > 0);
        const counts = new Set([before, ...(await Promise.all(counting)), await count()]);
        assert.deepEqual([...counts], [0, 1500]);
      },
    }),

    ...lastingCase(
      subject,
      'imported pets are unchanged after reopening',
      async ({ transfer }) => {
        await importPets({ transfer }, inBatches(samplePets(1500)));
        return exported(transfer);
      },
      async ({ transfer }, before) => assert.deepEqual(await exported(transfer), before),
    ),
  ];
}

function exportingPets(subject: Subject<TransferStore>): ContractCase[] {
  return contractCases(subject, {
    'an export has every pet once, in ascending order, unchanged, and its import gives an equal store':
      async (store) => {
        for (const number of [INT64_MIN, -1n, 2n ** 53n + 1n, INT64_MAX]) {
          await store.pets.add(samplePet(`"'\\ \n🐈‍⬛ \u2028`, number));
        }
        await importPets(store, inBatches(samplePets(1496)));
        const all = await walk(store.pets, { limit: 100 });
        assert.equal(all.length, 1500);
        assert.deepEqual(await exported(store.transfer), all);
        const other = await subject.open();
        const importing = importPets(other.port, store.transfer.exportPets());
        const copying = importing.then(() => exported(other.port.transfer));
        assert.deepEqual(await copying.finally(() => other.close()), all);
      },

    'an export with a filter has all pets that match, and no others': async (store) => {
      for (const count of [0, 1, 3100]) {
        await importPets(store, inBatches(filterablePets(count)));
        const all = await exported(store.transfer);
        for (const filter of SAMPLE_FILTERS) {
          const expected = all.filter((pet) => matches(pet, filter));
          assert.deepEqual(await exported(store.transfer, filter), expected);
        }
      }
    },

    'an export has no pets that were added after it began': async (store) => {
      await importPets(store, inBatches(samplePets(1500)));
      const before = await walk(store.pets, { limit: 100 });
      const seen: Pet[] = [];
      for await (const batch of store.transfer.exportPets()) {
        seen.push(...batch);
        assert.ok(seen.length <= before.length, 'the export has pets that were added after it began');
        await addAll(store.pets, samplePets(2));
        await importPets(store, inBatches(samplePets(10)));
      }
      assert.deepEqual(seen, before);
      const after = await exported(store.transfer);
      assert.ok(after.length > before.length, 'expected the next export to have the new pets');
    },

    'a loop can leave an export early, and exports can overlap': async (store) => {
      const { pets, transfer } = store;
      await importPets(store, inBatches(samplePets(1500)));
      for await (const [first] of transfer.exportPets()) {
        assert.deepEqual(first, (await pets.list({ limit: 1 })).pets[0]);
        const [one, two] = await whileWriting(pets, () =>
          Promise.all([exported(transfer), exported(transfer)]),
        );
        assert.ok(one.length >= 1500 && two.length >= 1500, 'expected both exports to have all pets');
        break;
      }
      await pets.add(samplePet('after'));
    },
  });
}
