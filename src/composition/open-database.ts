import type { Storage } from '../application/ports/storage.ts';
import { StorageFault } from '../application/ports/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError } from '../domain/errors.ts';
import type { ConfiguredDatabase } from './config.ts';
import type { OpenOptions } from './databases/engine.ts';
import { DATABASES } from './databases/index.ts';

/** Opens a database. The message of an error begins with the name of the setting that selected the database. */
export async function openDatabase(database: ConfiguredDatabase, options: OpenOptions): Promise<Storage> {
  return withSource(database, () => DATABASES.open(database, options));
}

/** Does work on a database, and adds the name of the setting to the message of an error of the storage. */
export async function withSource<T>({ source }: ConfiguredDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = asAnimalStoreError(error);
    if (known?.code !== 'storage_unavailable') throw error;
    const message = `${source}: ${known.message}`;
    throw known instanceof StorageFault
      ? new StorageFault(known.reason, message, { cause: error })
      : new AnimalStoreError(known.code, message, { cause: error });
  }
}
