import { AnimalStore } from '../application/animal-store.ts';
import {
  checkArgument,
  checkOptions,
  type OptionRules,
  objectWith,
  STRING,
} from '../application/arguments.ts';
import { DAYS } from '../application/create-pet.ts';
import type { StoreStorage } from '../application/ports/storage.ts';
import type { ClientOptions, RetryOptions } from '../application/store-options.ts';
import { createUseCases } from '../application/use-cases.ts';
import { CLIENT_RULES } from '../composition/databases/client-options.ts';
import { openDatabase, parseDatabase } from '../composition/databases/database.ts';
import type { Engine } from '../composition/databases/engine.ts';
import { invalidRequest } from '../domain/errors.ts';
import { readDatabase } from './database-option.ts';

/** The configuration of a store: either the URL of a database, or a storage object. */
export type AnimalStoreConfig =
  | (ClientOptions &
      RetryOptions & {
        /**
         * One of four kinds of URLs: `memory:` (the data is lost when the process ends), `sqlite:PATH` (creates a
         * missing file and its folders), `postgres://HOST/DATABASE` (creates missing tables), or the base address of a server such
         * as `https://pets.example.org/v1` (needs `apiKey`). A browser supports only `memory:` and addresses of servers.
         */
        readonly database: string;
        readonly storage?: undefined;
      })
  | (RetryOptions & {
      /** Your own storage, which must fulfil the contracts in the comments of {@link StoreStorage}. */
      readonly storage: StoreStorage;
      readonly database?: undefined;
    });

const OPTIONS: OptionRules<AnimalStoreConfig & ClientOptions & RetryOptions> = {
  database: { ...STRING, expected: "a string such as 'memory:'" },
  storage: objectWith('check', 'close'),
  idempotencyDays: DAYS,
  ...CLIENT_RULES,
};

export async function openStore(config: AnimalStoreConfig, engines: readonly Engine[]): Promise<AnimalStore> {
  const { database: url, storage, idempotencyDays, ...client } = checkOptions(config, OPTIONS);
  if ((url === undefined) === (storage === undefined)) {
    throw invalidRequest("expected one option, database or storage, such as { database: 'memory:' }");
  }
  if (storage !== undefined) {
    checkArgument('storage.pets', storage.pets, objectWith('add', 'find', 'list'));
    return new AnimalStore(storage, createUseCases(storage, { idempotencyDays }));
  }
  const database = readDatabase(() => parseDatabase(engines, url));
  if (database.engine.isRemote && idempotencyDays !== undefined) {
    throw invalidRequest('idempotencyDays: the server at an address decides it, with IDEMPOTENCY_DAYS');
  }
  const opened = await openDatabase(database, { client });
  return new AnimalStore(opened, createUseCases(opened, { idempotencyDays }));
}
