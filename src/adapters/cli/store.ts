/** Opens the store for a command, and closes it afterwards. */

import type { AnimalStore } from '../../application/animal-store.ts';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { CommandError, explain } from './errors.ts';
import type { CommandOptions, Work } from './options.ts';

interface Access {
  /**
   * Whether to create a missing store. If not, a missing store is an error. If `undefined`, the error does not suggest the option
   * `--create-store`.
   */
  readonly createStore?: boolean | undefined;
  /** Whether the command writes nothing. Such a command refuses a store of an older release, and does not migrate it. */
  readonly onlyReads?: boolean;
}

/** The access of a command that writes nothing. */
export const READING: Access = { onlyReads: true };

export async function withStore<T>(
  { openStore, databaseUrl, console, signal }: CommandOptions,
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
  // If closing fails, the result must still be printed: otherwise, a new key would be lost.
  try {
    signal.throwIfAborted();
    return await use(store);
  } finally {
    await store.close().catch((error) => console.err(`${explain(error)}\n`));
  }
}

/** Waits for work that continues until the signal is aborted. Ignores an error after the abort. */
export async function untilInterrupted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await work.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
