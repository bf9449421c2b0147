/** The configuration of a store, and the check of a configuration that a program passes. */

import type { StoreStorage } from '../application/store-options.ts';
import { AnimalStoreError } from '../domain/errors.ts';

/** The configuration of a store: either the URL of a database, or a storage object. */
export type AnimalStoreConfig =
  | {
      /**
       * The database URL: `memory:`, `sqlite:PATH` or `postgres://HOST/DATABASE`. `memory:` loses the data when the process
       * ends. `sqlite:` creates a missing file, and `postgres:` creates missing tables. In a browser only `memory:` is
       * available.
       */
      readonly database: string;
      readonly storage?: undefined;
    }
  | {
      /**
       * A storage object, such as your own implementation of {@link StoreStorage}. The object must fulfil the contracts
       * in the comments of the interface.
       */
      readonly storage: StoreStorage;
      readonly database?: undefined;
    };

/** The required members of a storage, with their types. */
const STORAGE_MEMBERS = { pets: 'object', apiKeys: 'object', check: 'function', close: 'function' };

type Members = Readonly<Record<string, unknown>>;

/**
 * Throws `invalid_request` when a value is not an {@link AnimalStoreConfig}. The message contains no value of an option,
 * because a database URL can contain a password.
 */
export function checkConfig(config: unknown): asserts config is AnimalStoreConfig {
  const options: Members = typeof config === 'object' && config !== null ? { ...config } : {};
  const names = Object.keys(options).filter((name) => options[name] !== undefined);
  const { database, storage } = options;
  if (names.length !== 1 || (database === undefined && storage === undefined)) {
    const given = names.join(', ') || typeof config;
    throw invalid(`expected one option, database or storage, such as { database: 'memory:' }, got ${given}`);
  }
  if (storage !== undefined) checkStorage(storage as Members | null);
  else if (typeof database !== 'string') {
    throw invalid(`database: expected a string such as 'memory:', got ${typeof database}`);
  }
}

function checkStorage(storage: Members | null): void {
  const faulty = Object.entries(STORAGE_MEMBERS).filter(([name, type]) => typeof storage?.[name] !== type);
  if (faulty.length > 0) {
    throw invalid(`storage: missing or invalid members: ${faulty.map(([name]) => name).join(', ')}`);
  }
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', `createAnimalStore: ${message}`);
}
