/** A store in memory. */

import { closedError, type Storage } from '../../application/ports/storage.ts';
import { MemoryApiKeyRepository } from './api-key-repository.ts';
import { memoryIdempotentWrites } from './idempotent-writes.ts';
import { memoryChanges } from './pet-changes.ts';
import { MemoryPetRepository } from './pet-repository.ts';
import { memoryTransfer } from './pet-transfer.ts';

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
  const closing = new AbortController();
  const { signal: closed } = closing;
  const pets = new MemoryPetRepository(closed);
  const changes = memoryChanges(pets, closed);
  const idempotentWrites = memoryIdempotentWrites(pets, changes, closed);
  return {
    pets,
    idempotentCreates: idempotentWrites,
    idempotencyRecords: idempotentWrites,
    apiKeys: new MemoryApiKeyRepository(closed),
    transfer: memoryTransfer(pets),
    changes,
    idempotentChanges: idempotentWrites,
    check: async () => pets.assertIdsLeft(1),
    close: async () => closing.abort(closedError()),
  };
}
