import type { Storage } from '../../application/ports/storage.ts';
import { MemoryApiKeyRepository } from './api-key-repository.ts';
import { MemoryIdempotentCreates } from './idempotent-creates.ts';
import { OpenState } from './open-state.ts';
import { MemoryPetRepository } from './pet-repository.ts';
import { MemoryPetTransfer } from './pet-transfer.ts';

/**
 * Opens an empty store in memory. The data of the store is lost when the process exits.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { openMemoryStorage } from 'animal-store/memory';
 *
 * const store = await createAnimalStore({ storage: openMemoryStorage() });
 * await store.close();
 * ```
 */
export function openMemoryStorage(): Storage {
  const state = new OpenState();
  const pets = new MemoryPetRepository(state);
  return {
    pets,
    idempotentCreates: new MemoryIdempotentCreates(pets, state),
    apiKeys: new MemoryApiKeyRepository('', state),
    transfer: new MemoryPetTransfer(pets),
    check: async () => state.assertOpen(),
    close: async () => state.close(),
  };
}
