/** Opens the store for commands other than `serve`. A server can use the store at the same time. */

import { AnimalStore } from '../application/animal-store.ts';
import { type Environment, loadDatabase } from './config.ts';
import { DATABASES } from './databases/index.ts';

/**
 * Opens the store. Rejects with a `ConfigError` for a database such as `memory:`, whose data would be lost when the
 * command ends. Rejects with `storage_unavailable` when the store does not exist and `mustExist` is true.
 *
 * @param databaseUrl the value of `--database-url`, which has precedence over the environment
 */
export async function openCommandStore(
  environment: Environment,
  databaseUrl: string | undefined,
  { mustExist }: { readonly mustExist: boolean },
): Promise<AnimalStore> {
  const database = loadDatabase(environment, databaseUrl);
  return new AnimalStore(await DATABASES.open(database, { mustExist, forCommand: true }));
}

/** Returns the paths of all files that the store can have, including missing files. Does not open the store. */
export async function storeFilesOf(
  environment: Environment,
  databaseUrl: string | undefined,
): Promise<readonly string[]> {
  return DATABASES.files(loadDatabase(environment, databaseUrl));
}
