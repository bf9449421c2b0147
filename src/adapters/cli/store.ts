/** Opens the store for a command, and closes it afterwards. */

import type { AnimalStore } from '../../application/animal-store.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { CommandError } from './errors.ts';
import type { CommandOptions, Work } from './options.ts';

interface Access {
  /** Whether a missing store is created. Only a command with `--create-store` sets this, because it hides a mistyped path. */
  readonly createStore?: boolean | undefined;
  /** Whether the command writes nothing. A store of an older release then stays as it is. */
  readonly onlyReads?: boolean;
}

/** The access of a command that writes nothing. */
export const READING: Access = { onlyReads: true };

/** Calls `use` with the open store. */
export async function withStore<T>(
  { openStore, databaseUrl }: CommandOptions,
  work: Work,
  { createStore, onlyReads = false }: Access,
  use: (store: AnimalStore) => Promise<T>,
): Promise<T> {
  const opening = openStore(databaseUrl, { mustExist: !createStore, work, onlyReads });
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

/** Waits for work that only the signal ends. This end is not an error. */
export async function untilInterrupted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await work.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
