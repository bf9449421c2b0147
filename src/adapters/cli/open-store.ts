import type { AnimalStore } from '../../application/animal-store.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { FileError } from './errors.ts';
import type { CliOptions } from './options.ts';

/**
 * Opens the store. A store that does not exist is created only if `createStore` is true, because a mistyped path would
 * go unnoticed. Otherwise, rejects with a {@link FileError} that names the option.
 */
export async function openOrCreateStore(
  { openStore }: Pick<CliOptions, 'openStore'>,
  databaseUrl: string | undefined,
  createStore: boolean,
): Promise<AnimalStore> {
  try {
    return await openStore(databaseUrl, { mustExist: !createStore });
  } catch (error) {
    if (storageFaultReason(error) !== 'file_missing') throw error;
    throw new FileError(
      `${(error as Error).message}. Check this location, or create a store there with --create-store`,
    );
  }
}
