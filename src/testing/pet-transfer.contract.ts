/** The tests (contract cases) that every `PetTransfer` must pass, for any test runner. */

import assert from 'node:assert/strict';
import { type ContractCase, lastingCase, type Subject, twoClientCases } from './contract.ts';
import { samplePets } from './fixtures/pets.ts';
import { exported, importPets, inBatches, type TransferStore } from './fixtures/transfers.ts';
import { exportingPets } from './pet-export.contract.ts';
import { importingPets } from './pet-import.contract.ts';
import { failingImports } from './pet-import-failures.contract.ts';

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
