import { AnimalStore } from '../application/animal-store.ts';
import type { DatabaseRegister } from '../composition/databases/register.ts';
import { AnimalStoreError } from '../domain/errors.ts';
import { type AnimalStoreConfig, checkConfig } from './store-config.ts';

/**
 * Opens a store. Rejects with `invalid_request` when the configuration is invalid, or when `databases` does not support
 * the database URL.
 */
export async function openStore(
  config: AnimalStoreConfig,
  databases: DatabaseRegister,
): Promise<AnimalStore> {
  checkConfig(config);
  const { database, storage } = config;
  if (storage !== undefined) return new AnimalStore(storage);
  const parsed = databases.parse(database);
  if (parsed === undefined) {
    throw new AnimalStoreError('invalid_request', `database: ${databases.fault(database)}`);
  }
  return new AnimalStore(await databases.open(parsed));
}
