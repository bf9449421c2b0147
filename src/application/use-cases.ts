/** Constructs the use cases over the ports of a storage: the only place that does. */

import { ApiKeys } from './api-keys.ts';
import type { ChangeUseCases } from './change-calls.ts';
import { ChangePet } from './change-pet.ts';
import { CreatePet } from './create-pet.ts';
import { entityTagOf } from './entity-tag.ts';
import { failureReporter, type ReportFailure } from './failures.ts';
import { GetPet } from './get-pet.ts';
import { ImportPets } from './import-pets.ts';
import { ListChanges } from './list-changes.ts';
import { ListPets } from './list-pets.ts';
import type { Storage, StoreStorage } from './ports/storage.ts';
import { RemovePet } from './remove-pet.ts';
import type { RetryOptions } from './store-options.ts';
import { VerifyApiKey } from './verify-api-key.ts';

/** The use cases that the API of a server has too. */
export interface PetUseCases {
  readonly createPet: CreatePet;
  readonly listPets: ListPets;
  readonly getPet: GetPet;
  /** Missing when the storage cannot change pets. */
  readonly changes?: ChangeUseCases | undefined;
}

/** The use cases that need a port that a storage can lack. */
export interface OtherUseCases {
  readonly importPets: ImportPets;
  readonly apiKeys: ApiKeys;
  readonly verifyApiKey: VerifyApiKey;
}

export type UseCases = PetUseCases & {
  readonly [Name in keyof OtherUseCases]?: OtherUseCases[Name] | undefined;
};

type Port = Exclude<
  keyof StoreStorage,
  'idempotencyRecords' | 'backup' | 'endsCalls' | 'statistics' | 'check' | 'close'
>;

export function createPetUseCases(
  { pets, idempotentCreates: creates, changeUseCases }: Pick<StoreStorage, Port>,
  { idempotencyDays: days }: RetryOptions = {},
): PetUseCases {
  return {
    createPet: new CreatePet(pets, { creates, days }),
    listPets: new ListPets(pets),
    getPet: new GetPet(pets),
    changes: changeUseCases,
  };
}

function createChangeUseCases(
  { pets, changes, idempotentChanges }: Pick<StoreStorage, Port>,
  { idempotencyDays: days }: RetryOptions = {},
): ChangeUseCases | undefined {
  if (changes === undefined) return undefined;
  const ports = { changes, idempotentChanges, days };
  const getPet = new GetPet(pets);
  return {
    changePet: new ChangePet(ports),
    removePet: new RemovePet(ports),
    listChanges: new ListChanges(changes),
    async findTagged(id, options) {
      const pet = await getPet.execute(id, options);
      return { pet, etag: await entityTagOf(pet) };
    },
    entityTagOf,
  };
}

type UseCaseOptions = RetryOptions & { readonly report?: ReportFailure };

export function createUseCases(
  ports: Pick<Storage, Port>,
  options?: UseCaseOptions,
): PetUseCases & OtherUseCases;
export function createUseCases(ports: Pick<StoreStorage, Port>, options?: UseCaseOptions): UseCases;
export function createUseCases(ports: Pick<StoreStorage, Port>, options: UseCaseOptions = {}): UseCases {
  const { apiKeys } = ports;
  const { report = failureReporter([]) } = options;
  const verifyApiKey = apiKeys && new VerifyApiKey(apiKeys, Date.now, report);
  return {
    ...createPetUseCases(ports, options),
    changes: ports.changeUseCases ?? createChangeUseCases(ports, options),
    importPets: ports.transfer && new ImportPets(ports.transfer),
    apiKeys: apiKeys && new ApiKeys(apiKeys, Date.now, (id) => verifyApiKey?.forget(id)),
    verifyApiKey,
  };
}
