/** The library's face: the domain, the use cases, the ports, and a store that is ready to use. */

import type { AnimalStore } from './application/animal-store.ts';
import { AnimalStoreError } from './domain/errors.ts';
import { type AnimalStoreConfig, type Database, MEMORY, openStore } from './open-store.ts';

export * from './portable.ts';

/**
 * Opens a store. It reads no environment, and shares nothing with another store in the process; only the adapter that
 * is asked for, and its driver, are loaded.
 *
 * Rejects with `invalid_request` when the database is no `sqlite:PATH` or `memory:`, with `storage_unavailable` when it
 * cannot be opened or its driver is not installed.
 */
export async function createAnimalStore(config: AnimalStoreConfig): Promise<AnimalStore> {
  return openStore(config, [SQLITE, MEMORY]);
}

const SQLITE: Database = {
  usage: 'sqlite:PATH',
  open(path) {
    if (path === '' || path === ':memory:') return undefined;
    const adapter = load(import('./adapters/sqlite/storage.ts'), 'better-sqlite3');
    return adapter.then(({ openSqliteStorage }) => openSqliteStorage(path));
  },
};

/** An adapter whose driver need not be installed. */
async function load<T>(adapter: Promise<T>, driver: string): Promise<T> {
  try {
    return await adapter;
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new AnimalStoreError(
      'storage_unavailable',
      `the package ${driver} is not installed: npm install ${driver}`,
      { cause },
    );
  }
}
