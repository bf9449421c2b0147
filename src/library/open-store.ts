import { AnimalStore, type StoreStorage } from '../application/animal-store.ts';
import type { DatabaseRegister } from '../composition/databases/register.ts';
import { AnimalStoreError } from '../domain/errors.ts';

/** The configuration of a store: either the URL of a database, or a storage object. */
export type AnimalStoreConfig =
  | {
      /**
       * The database URL: `memory:` or `sqlite:PATH`. `memory:` loses the data when the process ends. `sqlite:` creates
       * a missing file, and is not available in a browser.
       */
      readonly database: string;
      readonly storage?: undefined;
    }
  | {
      /**
       * A storage object, such as your own implementation of {@link StoreStorage}. The object must fulfil the contracts
       * in the comments of the interface.
       */
      readonly storage: StoreStorage;
      readonly database?: undefined;
    };

/** Opens a store. Rejects with `invalid_request` when `databases` does not support the database URL. */
export async function openStore(
  { database, storage }: AnimalStoreConfig,
  databases: DatabaseRegister,
): Promise<AnimalStore> {
  if (storage !== undefined) return new AnimalStore(storage);
  const url = String(database);
  const parsed = databases.parse(url);
  if (parsed === undefined) {
    throw new AnimalStoreError('invalid_request', `database: ${databases.fault(url)}`);
  }
  return new AnimalStore(await databases.open(parsed));
}
