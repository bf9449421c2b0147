/** Opens the store for the commands other than `serve`. A server may use the store at the same time. */

import { AnimalStore } from '../application/animal-store.ts';
import { type Environment, loadDatabase } from './config.ts';
import { DATABASES } from './databases/index.ts';

/**
 * Opens the store. `databaseUrl` is the value of `--database-url`, and has precedence over the environment. Rejects
 * with a `ConfigError` when the data of the store would be lost at the end of the command. Rejects with
 * `storage_unavailable` when the store does not exist and `mustExist` is true.
 */
export async function openCommandStore(
  environment: Environment,
  databaseUrl: string | undefined,
  { mustExist }: { readonly mustExist: boolean },
): Promise<AnimalStore> {
  const database = loadDatabase(environment, databaseUrl);
  return new AnimalStore(await DATABASES.open(database, { mustExist, forCommand: true }));
}

/** Returns the paths of all files that belong to the store, whether or not the files exist. Does not open the store. */
export async function storeFilesOf(
  environment: Environment,
  databaseUrl: string | undefined,
): Promise<readonly string[]> {
  return DATABASES.files(loadDatabase(environment, databaseUrl));
}
