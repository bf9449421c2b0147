/**
 * The entry point `animal-store/client`: the store of another server, for programs and web pages that need nothing else.
 * It loads no module of Node.js.
 */

import { checkOptions, FUNCTION, type OptionRules, STRING, TIMEOUT } from '../application/arguments.ts';
import type { ClientOptions } from '../application/store-options.ts';
import { api } from '../composition/databases/api.ts';
import { invalidRequest } from '../domain/errors.ts';
import { ApiStore, type PetStore } from './api-store.ts';

export type { PetPageQuery } from '../application/list-pets.ts';
export type { CallOptions, PetPage } from '../application/ports/pet-repository.ts';
export type { ClientOptions, CreateOptions, Deprecation, PetWalk } from '../application/store-options.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode } from '../domain/errors.ts';
export type { NewPetInput, Pet, PetStatus } from '../domain/pet.ts';
export type { PetStore } from './api-store.ts';

/** The configuration of the store of a server. */
export interface ClientConfig extends ClientOptions {
  /** The base address of the API, such as `https://pets.example.org/v1`. */
  readonly database: string;
}

const OPTIONS: OptionRules<ClientConfig> = {
  database: STRING,
  apiKey: STRING,
  timeout: TIMEOUT,
  onDeprecation: FUNCTION,
};

/**
 * Opens the store of a server. Sends no request before the first call of a method. Rejects with `invalid_request` when
 * the configuration is invalid.
 */
export async function createAnimalStore(config: ClientConfig): Promise<PetStore> {
  checkOptions(config, OPTIONS);
  const { database, ...client } = config;
  const [, scheme = '', rest = ''] = /^(https?):(.*)$/s.exec(database) ?? [];
  const base = api.parse(rest, scheme);
  // The address is not shown, because it can contain a password.
  if (base === undefined)
    throw invalidRequest(`database: expected ${api.usage}, without a user name or a query`);
  const { open } = await api.load();
  return new ApiStore(await open(base, { client }));
}
