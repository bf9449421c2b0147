/** The entry point `animal-store/client`: the store of another server, without any module of Node.js. */

import { openApiStorage } from '../adapters/api-client/index.ts';
import { checkOptions, type OptionRules, STRING } from '../application/arguments.ts';
import { BasicStore as Store } from '../application/basic-store.ts';
import { CLIENT_OPTIONS, type ClientOptions } from '../application/store-options.ts';
import { parseApiAddress } from '../composition/databases/api-address.ts';
import { invalidRequest } from '../domain/errors.ts';

export type { Change, ChangeFunction, TaggedChanges, TaggedPet } from '../application/change-calls.ts';
export type { Deprecation } from '../application/deprecation.ts';
export type { ChangesPageQuery } from '../application/list-changes.ts';
export type { PetPageQuery } from '../application/list-pets.ts';
export type { CallOptions, PetPage } from '../application/ports/pet-repository.ts';
export type {
  ChangeOptions,
  ClientOptions,
  CreateOptions,
  FollowChangesOptions,
  Following,
  FollowOptions,
  PetWalk,
} from '../application/store-options.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode } from '../domain/errors.ts';
export type { NewPetInput, Pet, PetStatus } from '../domain/pet.ts';
export type { PetChange } from '../domain/pet-change.ts';

/** The methods of an `AnimalStore` that the API has operations for. Every `AnimalStore` is a `BasicStore` too. */
export type BasicStore = Omit<Store, 'createPetOnce'>;

/** The configuration of the store of a server. */
export interface ClientConfig extends ClientOptions {
  /** The base address of the API, such as `https://pets.example.org/v1`. */
  readonly database: string;
}

const OPTIONS: OptionRules<ClientConfig> = { database: STRING, ...CLIENT_OPTIONS };

/** Opens the store of a server, and sends no request. Rejects with `invalid_request` for an invalid configuration. */
export async function createAnimalStore(config: ClientConfig): Promise<BasicStore> {
  checkOptions(config, OPTIONS);
  const { database, ...client } = config;
  const [, scheme = 'https', rest = ''] = /^(https?):(.*)$/s.exec(database) ?? [];
  return new Store(openApiStorage(baseOf(rest, scheme), client));
}

function baseOf(rest: string, scheme: string): string {
  try {
    return parseApiAddress(rest, scheme);
  } catch (error) {
    throw invalidRequest(`database: ${(error as Error).message}`);
  }
}
