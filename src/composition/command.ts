/** Opens the store for commands other than `serve`. A server can use the store at the same time. */

import { AnimalStore } from '../application/animal-store.ts';
import type { Restored, RestoreOptions } from '../application/ports/maintenance.ts';
import { type Environment, loadDurableDatabase } from './config.ts';
import { DATABASES } from './databases/index.ts';
import { openDatabase, withSource } from './open-database.ts';

/**
 * Opens the store. Rejects with a `ConfigError` for a database such as `memory:`, whose data would be lost when the
 * command ends. Rejects with a `StorageFault` when the store does not exist and `mustExist` is true. Rejects with
 * `invalid_request` when the engine has its own tools for backups and `forBackup` is true.
 *
 * @param databaseUrl the value of `--database-url`, which has precedence over the environment
 */
export async function openCommandStore(
  environment: Environment,
  databaseUrl: string | undefined,
  { mustExist, forBackup = false }: { readonly mustExist: boolean; readonly forBackup?: boolean },
): Promise<AnimalStore> {
  const database = loadDurableDatabase(environment, databaseUrl);
  if (forBackup) DATABASES.refuseWork(database.scheme, 'backup');
  return new AnimalStore(await openDatabase(database, { mustExist, forCommand: true }));
}

/** Returns the paths of all files that the store can have, including missing files. Does not open the store. */
export async function storeFilesOf(
  environment: Environment,
  databaseUrl: string | undefined,
): Promise<readonly string[]> {
  return DATABASES.files(loadDurableDatabase(environment, databaseUrl));
}

/** Replaces the store by a backup in a file. The store must not be in use. */
export async function restoreCommandStore(
  environment: Environment,
  databaseUrl: string | undefined,
  file: string,
  options: RestoreOptions,
): Promise<Restored> {
  const database = loadDurableDatabase(environment, databaseUrl);
  return withSource(database, () => DATABASES.restore(database, file, options));
}
