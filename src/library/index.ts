/**
 * The entry point `animal-store`: the domain, the use cases, the interfaces for storages, and a function that opens a
 * store.
 */

import type { AnimalStore } from '../application/animal-store.ts';
import { ENGINES } from '../composition/databases/index.ts';
import { type AnimalStoreConfig, openStore } from './open-store.ts';

export * from './portable.ts';

/**
 * Opens a store. The function reads no environment variables, and the store shares nothing with other stores of the
 * process. Only the adapter of the given database is loaded, together with its driver.
 *
 * Rejects with `invalid_request` when the database URL is invalid. Rejects with
 * `storage_unavailable` when the database cannot be opened or its driver is not installed.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 *
 * const store = await createAnimalStore({ database: 'sqlite:./pets.db' });
 * const rex = await store.createPet({ name: 'Rex', categoryId: 7n });
 * console.log(rex.id); // 1n
 * await store.close();
 * ```
 */
export async function createAnimalStore(config: AnimalStoreConfig): Promise<AnimalStore> {
  return openStore(config, ENGINES);
}
