/** The library's face where there is no Node.js, in a browser or an edge runtime: all of it but SQLite. */

import type { AnimalStore } from './application/animal-store.ts';
import { type AnimalStoreConfig, MEMORY, openStore } from './open-store.ts';

export type { AnimalStore, PetWalk, StoreStorage } from './application/animal-store.ts';
export { ApiKeys, type IssuedApiKey } from './application/api-keys.ts';
export { CreatePet } from './application/create-pet.ts';
export { GetPet } from './application/get-pet.ts';
export { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, ListPets } from './application/list-pets.ts';
export type {
  ApiKeyHolder,
  ApiKeyRepository,
  ApiKeyVerifier,
  BackupOptions,
  ImportOptions,
  PetPage,
  PetQuery,
  PetRepository,
  PetTransfer,
  Storage,
} from './application/ports.ts';
export {
  STORAGE_FAULT_REASONS,
  StorageFault,
  type StorageFaultReason,
  storageFaultReason,
} from './application/storage-fault.ts';
export { type ApiKey, apiKeyHint, isActive, isApiKey, type NewApiKey } from './domain/api-key.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode } from './domain/errors.ts';
export { INT64_MAX, INT64_MIN, isInt64, parseInt64 } from './domain/int64.ts';
export {
  DEFAULT_STATUS,
  isPetStatus,
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
  type NewPet,
  type NewPetInput,
  newPet,
  PET_STATUSES,
  type Pet,
  type PetStatus,
  petWithId,
} from './domain/pet.ts';
export type { AnimalStoreConfig } from './open-store.ts';

/** Like `createAnimalStore` in Node.js, but without `sqlite:`. */
export async function createAnimalStore(config: AnimalStoreConfig): Promise<AnimalStore> {
  return openStore(config, [MEMORY]);
}
