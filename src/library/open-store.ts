import { AnimalStore } from '../application/animal-store.ts';
import {
  checkArgument,
  checkOptions,
  OBJECT,
  type OptionRules,
  objectWith,
  STRING,
} from '../application/arguments.ts';
import { CLIENT_OPTIONS, type ClientOptions, type StoreStorage } from '../application/store-options.ts';
import { type Database, parseDatabase } from '../composition/databases/database.ts';
import type { Engine } from '../composition/databases/engine.ts';
import { invalidRequest } from '../domain/errors.ts';

/** The configuration of a store: either the URL of a database, or a storage object. */
export type AnimalStoreConfig =
  | (ClientOptions & {
      /**
       * `memory:`, whose data is lost when the process ends, `sqlite:PATH`, which creates a missing file,
       * `postgres://HOST/DATABASE`, which creates missing tables, or the base address of a server such as
       * `https://pets.example.org/v1`, which needs `apiKey`. A browser supports only `memory:` and addresses.
       */
      readonly database: string;
      readonly storage?: undefined;
    })
  | {
      /** Your own storage, which must fulfil the contracts in the comments of {@link StoreStorage}. */
      readonly storage: StoreStorage;
      readonly database?: undefined;
    };

const OPTIONS: OptionRules<AnimalStoreConfig & ClientOptions> = {
  database: { ...STRING, expected: "a string such as 'memory:'" },
  storage: objectWith('check', 'close'),
  ...CLIENT_OPTIONS,
};

export async function openStore(config: AnimalStoreConfig, engines: readonly Engine[]): Promise<AnimalStore> {
  checkOptions(config, OPTIONS);
  const { database: url, storage, ...client } = config;
  if ((url === undefined) === (storage === undefined)) {
    throw invalidRequest("expected one option, database or storage, such as { database: 'memory:' }");
  }
  if (storage !== undefined) {
    checkArgument('storage.pets', storage.pets, OBJECT);
    checkArgument('storage.apiKeys', storage.apiKeys, OBJECT);
    return new AnimalStore(storage);
  }
  return new AnimalStore(await databaseAt(url, engines).open({ client }));
}

function databaseAt(url: string, engines: readonly Engine[]): Database {
  try {
    return parseDatabase(engines, url);
  } catch (error) {
    throw invalidRequest(`database: ${(error as Error).message}`);
  }
}
