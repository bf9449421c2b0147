/** Constructs the use cases with the ports of a storage. Only this module of `src` constructs use cases. */

import { ApiKeys } from './api-keys.ts';
import type { ChangeUseCases, RemoteStorage } from './change-calls.ts';
import { ChangePet } from './change-pet.ts';
import { CreatePet } from './create-pet.ts';
import { entityTagOf } from './entity-tag.ts';
import { GetPet } from './get-pet.ts';
import { ImportPets } from './import-pets.ts';
import { ListChanges } from './list-changes.ts';
import { ListPets } from './list-pets.ts';
import { failureReporter, type ReportFailure } from './observers.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import type { Storage, StoreStorage } from './ports/storage.ts';
import { RemovePet } from './remove-pet.ts';
import type { RetryOptions } from './store-options.ts';
import { VerifyApiKey } from './verify-api-key.ts';

/** The use cases. A use case is missing when the storage lacks its port. */
export interface UseCases {
  readonly createPet: CreatePet;
  readonly listPets: ListPets;
  readonly getPet: GetPet;
  /** Missing when the storage cannot change pets. */
  readonly changes?: ChangeUseCases | undefined;
  readonly importPets?: ImportPets;
  readonly apiKeys?: ApiKeys;
  readonly verifyApiKey?: VerifyApiKey;
}

type Options = RetryOptions & { readonly report?: ReportFailure };
type Ports = Omit<StoreStorage & Partial<RemoteStorage>, 'check' | 'close'>;
type AllPorts = Omit<Storage, 'check' | 'close' | 'idempotencyRecords'>;

/** Creates the use cases that are available both in this process and through the HTTP API of a server. */
export function createPetUseCases(
  { pets, idempotentCreates: creates, changeUseCases: changes }: Ports,
  { idempotencyDays: days }: RetryOptions = {},
): UseCases {
  const createPet = new CreatePet(pets, { creates, days });
  return { createPet, listPets: new ListPets(pets), getPet: new GetPet(pets), changes };
}

export function createUseCases(ports: AllPorts, options?: Options): Required<UseCases>;
export function createUseCases(ports: Ports, options?: Options): UseCases;
export function createUseCases(ports: Ports, options: Options = {}): UseCases {
  const { apiKeys, changes, idempotentChanges, transfer } = ports;
  const { idempotencyDays: days, report = failureReporter([]) } = options;
  const useCases = createPetUseCases(ports, options);
  const writing = changes && { changes, idempotentChanges, days };
  const changing = writing && {
    changePet: new ChangePet(writing),
    removePet: new RemovePet(writing),
    listChanges: new ListChanges(changes),
    async findTagged(id: bigint, call?: CallOptions) {
      const pet = await useCases.getPet.execute(id, call);
      return { pet, etag: await entityTagOf(pet) };
    },
  };
  const verifyApiKey = apiKeys && new VerifyApiKey(apiKeys, Date.now, report);
  return {
    ...useCases,
    changes: useCases.changes ?? changing,
    ...(transfer && { importPets: new ImportPets(transfer) }),
    ...(verifyApiKey && {
      apiKeys: new ApiKeys(apiKeys, Date.now, (id) => verifyApiKey.forget(id)),
      verifyApiKey,
    }),
  };
}
