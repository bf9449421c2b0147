import type { AnimalStore } from '../../../application/animal-store.ts';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { FileError } from '../errors.ts';
import { refuseStoreFile } from '../files/paths.ts';
import type { CommandOptions } from '../options.ts';

/**
 * Calls `use` with the store, and closes the store afterwards.
 * @param createStore whether a missing store is created, which would hide a mistyped path; `undefined` if the command has
 * no option `--create-store`
 */
export async function withStore<T>(
  options: CommandOptions,
  work: Parameters<CommandOptions['openStore']>[1]['work'],
  use: (store: AnimalStore) => Promise<T>,
  createStore?: boolean,
): Promise<T> {
  await refuseOutputToStore(options);
  const { databaseUrl, openStore } = options;
  const opening = openStore(databaseUrl, { mustExist: !createStore, work });
  const store = await opening.catch((error: unknown) => {
    if (createStore === undefined || storageFaultReason(error) !== 'file_missing') throw error;
    throw new FileError(
      `${(error as Error).message}. Check this location, or create a store there with --create-store`,
    );
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Throws if standard output is redirected to a file of the store, as in `export >> pets.db`. */
export async function refuseOutputToStore(options: CommandOptions): Promise<void> {
  const { console, databaseUrl, storeFiles } = options;
  // An invalid configuration is ignored here, because opening the store reports the fault.
  const files = await storeFiles(databaseUrl).catch(() => []);
  if (console.outDescriptor !== undefined) refuseStoreFile(console.outDescriptor, 'standard output', files);
}
