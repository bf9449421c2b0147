import type { AnimalStore } from '../../application/animal-store.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { CommandError } from './errors.ts';
import { refuseStoreFile } from './files.ts';
import type { CommandOptions, Work } from './options.ts';

/**
 * Calls `use` with the store, and closes the store afterwards.
 * @param createStore whether a missing store is created, which would hide a mistyped path; `undefined` if the command has
 * no option `--create-store`
 */
export async function withStore<T>(
  options: CommandOptions,
  work: Work,
  use: (store: AnimalStore) => Promise<T>,
  createStore?: boolean,
): Promise<T> {
  await refuseOutputToStore(options);
  const opening = options.openStore(options.databaseUrl, { mustExist: !createStore, work });
  const store = await opening.catch((error: Error) => {
    if (createStore === undefined || storageFaultReason(error) !== 'file_missing') throw error;
    const advice = 'Check this location, or create a store there with --create-store';
    throw new CommandError(`${error.message}. ${advice}`);
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
