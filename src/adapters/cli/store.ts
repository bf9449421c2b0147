import type { AnimalStore } from '../../application/animal-store.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { CommandError } from './errors.ts';
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
  onlyReads = false,
): Promise<T> {
  const opening = options.openStore(options.databaseUrl, { mustExist: !createStore, work, onlyReads });
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

/** Like {@link withStore}, for a command that writes nothing: a store of an older release stays as it is. */
export function readStore<T>(
  options: CommandOptions,
  work: Work,
  use: (store: AnimalStore) => Promise<T>,
): Promise<T> {
  return withStore(options, work, use, undefined, true);
}
