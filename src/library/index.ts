/** The entry point `animal-store`. */

import type { AnimalStore } from '../application/animal-store.ts';
import { ENGINES } from '../composition/databases/index.ts';
import { type AnimalStoreConfig, openStore } from './open-store.ts';

export * from './portable.ts';

/**
 * Opens a store. Rejects with `invalid_request` for an invalid configuration, and with `storage_unavailable` when the
 * database cannot be opened or its driver is not installed.
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
