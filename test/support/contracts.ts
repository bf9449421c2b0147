import { afterEach, describe, test, vi } from 'vitest';
import type { Storage } from '../../src/application/ports/storage.ts';
import {
  apiKeyRepositoryContract,
  type ChangingStore,
  type ContractCase,
  changeHistoryContract,
  historyContract,
  idempotentChangesContract,
  idempotentCreatesContract,
  keyHistoryContract,
  petChangesContract,
  petRepositoryContract,
  petTransferContract,
  type StorageSubject,
  type Subject,
  storageContract,
} from '../../src/testing/index.ts';
import { HAS_EACH_KIND, IS_WHOLE } from './extent.ts';
import { plainModel } from './plain-model.ts';

/** Opens a port of a storage for the contract suite of that port. */
export type SubjectOf = <Port>(
  portOf: (storage: Storage) => Port,
) => Subject<Port> & Pick<StorageSubject, 'openBackup'>;

/** Registers the contract suites of all ports of a storage adapter. */
export function testContracts(engine: string, subjectOf: SubjectOf): void {
  const suites: Readonly<Record<string, readonly ContractCase[]>> = {
    PetRepository: petRepositoryContract(subjectOf(({ pets }) => pets)),
    IdempotentCreates: idempotentCreatesContract(
      subjectOf(({ pets, idempotentCreates, idempotencyRecords }) => ({
        pets,
        idempotentCreates,
        idempotencyRecords,
      })),
    ),
    PetChanges: petChangesContract(subjectOf(changing)),
    IdempotentChanges: idempotentChangesContract(
      subjectOf((storage) => ({
        ...changing(storage),
        idempotentCreates: storage.idempotentCreates,
        idempotentChanges: storage.idempotentChanges ?? fail('idempotentChanges'),
      })),
    ),
    PetTransfer: petTransferContract(subjectOf(({ pets, transfer }) => ({ pets, transfer }))),
    ...plainModel(subjectOf),
    ...((!HAS_EACH_KIND || IS_WHOLE) && suitesOfAnyPets(subjectOf)),
  };
  for (const [port, cases] of Object.entries(suites)) {
    describe(`${port} ${engine}`, () => {
      afterEach(() => void vi.useRealTimers());
      for (const { name, run } of cases) test(name, run);
    });
  }
}

/** Returns the suites whose results do not depend on the attributes of a pet. */
function suitesOfAnyPets(subjectOf: SubjectOf): Readonly<Record<string, readonly ContractCase[]>> {
  return {
    ApiKeyRepository: apiKeyRepositoryContract(subjectOf(({ apiKeys }) => apiKeys)),
    Storage: storageContract(subjectOf((storage) => storage)),
    History: historyContract(subjectOf((storage) => storage)),
    'History of changes': changeHistoryContract(subjectOf(changing)),
    'History of API keys': keyHistoryContract(subjectOf((storage) => storage)),
  };
}

function changing({ pets, changes = fail('changes') }: Storage): ChangingStore {
  return { pets, changes };
}

function fail(part: string): never {
  throw new Error(`the storage has no ${part}`);
}
