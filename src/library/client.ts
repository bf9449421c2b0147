/**
 * The entry point `animal-store/client`: the store of another server, for programs and web pages that need nothing else.
 * It loads no module of Node.js.
 */

import type { AnimalStore } from '../application/animal-store.ts';
import { api } from '../composition/databases/api.ts';
import { type AnimalStoreConfig, openStore } from './open-store.ts';

export type { AnimalStore } from '../application/animal-store.ts';
export type { PetPageQuery } from '../application/list-pets.ts';
export type { CallOptions, PetPage } from '../application/ports/pet-repository.ts';
export type { ClientOptions, CreateOptions, Deprecation, PetWalk } from '../application/store-options.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode } from '../domain/errors.ts';
export type { NewPetInput, Pet, PetStatus } from '../domain/pet.ts';
export type { AnimalStoreConfig } from './open-store.ts';

/**
 * Opens the store of a server. `database` is the base address of the API, such as `https://pets.example.org/v1`. Rejects
 * with `invalid_request` for any other database URL. Sends no request before the first call of a method.
 */
export async function createAnimalStore(config: AnimalStoreConfig): Promise<AnimalStore> {
  return openStore(config, [api]);
}
