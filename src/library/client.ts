/** The entry point `animal-store/client`, which opens the store of a server through its API, and needs no module of Node.js. */

import { openApiStorage } from '../adapters/api-client/index.ts';
import { checkOptions, type OptionRules, STRING } from '../application/arguments.ts';
import { BasicStore as Store } from '../application/basic-store.ts';
import type { ClientOptions } from '../application/store-options.ts';
import { parseApiAddress } from '../composition/databases/api-address.ts';
import { CLIENT_RULES } from '../composition/databases/client-options.ts';
import { readDatabase } from './database-option.ts';

export * from './calls.ts';

/** A store with the calls that the API supports. `BasicStore` and `AnimalStore` of `animal-store` have these calls too. */
export type BasicStore = Omit<Store, `${string}Once` | 'listStates'>;

/** The configuration of the store of a server. */
export interface ClientConfig extends ClientOptions {
  /** The base address of the API, such as `https://pets.example.org/v1`. */
  readonly database: string;
}

const OPTIONS: OptionRules<ClientConfig> = { database: STRING, ...CLIENT_RULES };

/** Opens the store of a server without sending a request. Rejects with `invalid_request` for an invalid configuration. */
export async function createAnimalStore(config: ClientConfig): Promise<BasicStore> {
  const { database, ...client } = checkOptions(config, OPTIONS);
  const [, scheme = 'https', rest = ''] = /^(https?):(.*)$/is.exec(database) ?? [];
  const base = readDatabase(() => parseApiAddress(rest, scheme));
  return new Store(openApiStorage(base, client));
}
