/** The entry point `animal-store` in a browser or an edge runtime. Node.js, Bun and Deno get `index.ts`. */

import type { AnimalStore } from '../application/animal-store.ts';
import { api } from '../composition/databases/api.ts';
import { memory } from '../composition/databases/memory.ts';
import { type AnimalStoreConfig, openStore } from './open-store.ts';

export type { AnimalStore } from '../application/animal-store.ts';
export * from '../application/api-keys.ts';
export type { BasicStore } from '../application/basic-store.ts';
export type { ChangeUseCases } from '../application/change-calls.ts';
export * from '../application/change-pet.ts';
export { CreatePet, type CreatePetOptions } from '../application/create-pet.ts';
export { entityTagOf, type IfMatch } from '../application/entity-tag.ts';
export { GetPet } from '../application/get-pet.ts';
export * from '../application/import-pets.ts';
export * from '../application/list-changes.ts';
export { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, ListPets } from '../application/list-pets.ts';
export type { ReportFailure } from '../application/observers.ts';
export type * from '../application/ports/api-key-repository.ts';
export type * from '../application/ports/api-key-verifier.ts';
export * from '../application/ports/idempotent-changes.ts';
export type {
  Caller,
  CreateAttempt,
  CreateResult,
  IdempotencyRecords,
  IdempotentCreates,
} from '../application/ports/idempotent-creates.ts';
export * from '../application/ports/maintenance.ts';
export type { Commit, Observer } from '../application/ports/observer.ts';
export type * from '../application/ports/pet-changes.ts';
export type { PetQuery, PetRepository } from '../application/ports/pet-repository.ts';
export type { PetTransfer, TransferOptions } from '../application/ports/pet-transfer.ts';
export type { Storage, StoreStorage } from '../application/ports/storage.ts';
export * from '../application/ports/storage-fault.ts';
export { RemovePet } from '../application/remove-pet.ts';
export type { RetryOptions } from '../application/store-options.ts';
export { VerifyApiKey } from '../application/verify-api-key.ts';
export type { ChangePorts } from '../application/versioned-writes.ts';
export { type ApiKey, apiKeyPrefix, isActive, isApiKey, type NewApiKey } from '../domain/api-key.ts';
export { ERROR_CODES } from '../domain/errors.ts';
export { INT64_MAX, INT64_MIN, isInt64, parseInt64 } from '../domain/int64.ts';
export {
  DEFAULT_STATUS,
  type ImportedPet,
  isPetStatus,
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
  newPet,
  PET_STATUSES,
  petWithId,
} from '../domain/pet.ts';
export { changePet, petChange, STATUS_TRANSITIONS } from '../domain/pet-change.ts';
export type { PetFilter } from '../domain/pet-filter.ts';
export { parsePet, parsePets, petJson, petsJson } from '../domain/pet-json.ts';
export * from './calls.ts';
export type { AnimalStoreConfig } from './open-store.ts';

/**
 * Opens a store. The supported database URLs are `memory:` and the base address of a server, such as
 * `https://pets.example.org/v1`. For any other URL, rejects with `invalid_request`.
 */
export async function createAnimalStore(config: AnimalStoreConfig): Promise<AnimalStore> {
  return openStore(config, [memory, api]);
}
