/** The library's face: the domain, the use cases, the ports, and a store that is ready to use. */

import { AnimalStore } from './application/animal-store.ts';
import type { Storage } from './application/ports.ts';
import { AnimalStoreError } from './domain/errors.ts';

export type { AnimalStore, PetWalk } from './application/animal-store.ts';
export { ApiKeys, type IssuedApiKey } from './application/api-keys.ts';
export { CreatePet } from './application/create-pet.ts';
export { GetPet } from './application/get-pet.ts';
export { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, ListPets } from './application/list-pets.ts';
export type {
  ApiKeyHolder,
  ApiKeyRepository,
  ApiKeyVerifier,
  PetPage,
  PetQuery,
  PetRepository,
  Storage,
} from './application/ports.ts';
export { type ApiKey, apiKeyHint, isActive, isApiKey, type NewApiKey } from './domain/api-key.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode } from './domain/errors.ts';
export { INT64_MAX, INT64_MIN, isInt64, parseInt64 } from './domain/int64.ts';
export {
  DEFAULT_STATUS,
  isPetStatus,
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
  type NewPet,
  type NewPetInput,
  newPet,
  PET_STATUSES,
  type Pet,
  type PetStatus,
} from './domain/pet.ts';

/** Where the animals are: in a database that a URL names, or in a storage of one's own. */
export type AnimalStoreConfig =
  | {
      /** `sqlite:PATH`, a file that is made when it is missing, or `memory:`, which lasts as long as the store. */
      readonly database: string;
      readonly storage?: undefined;
    }
  | {
      /** Any adapter that keeps the contract of the ports. */
      readonly storage: Storage;
      readonly database?: undefined;
    };

/**
 * Opens a store. It reads no environment, and shares nothing with another store in the process; only the adapter that
 * is asked for, and its driver, are loaded.
 *
 * Rejects with `invalid_request` when the database is none of the above, with `storage_unavailable` when it cannot be
 * opened or its driver is not installed.
 */
export async function createAnimalStore({ database, storage }: AnimalStoreConfig): Promise<AnimalStore> {
  return new AnimalStore(storage ?? (await openStorage(String(database))));
}

async function openStorage(database: string): Promise<Storage> {
  const scheme = database.split(':', 1)[0] as string;
  const path = database.slice(scheme.length + 1).trim();
  if (database === 'memory:') {
    return (await import('./adapters/memory/storage.ts')).openMemoryStorage();
  }
  if (scheme === 'sqlite' && path !== '' && path !== ':memory:') {
    const { openSqliteStorage } = await load(import('./adapters/sqlite/storage.ts'), 'better-sqlite3');
    return openSqliteStorage(path);
  }
  // What follows the scheme may hold a password.
  const given = scheme === 'sqlite' || scheme === database ? database : `${scheme}:…`;
  throw new AnimalStoreError(
    'invalid_request',
    `database: '${given}' is given, sqlite:PATH or memory: is allowed`,
  );
}

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
