import { closedError, type Storage } from '../../application/ports/storage.ts';
import { MemoryApiKeyRepository } from './api-key-repository.ts';
import { memoryIdempotentChanges } from './idempotent-changes.ts';
import { MemoryIdempotentCreates } from './idempotent-creates.ts';
import { MemoryPetChanges } from './pet-changes.ts';
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
  const closed = closing.signal;
  const pets = new MemoryPetRepository(closed);
  const idempotentCreates = new MemoryIdempotentCreates(pets, closed);
  const changes = new MemoryPetChanges(pets);
  return {
    pets,
    idempotentCreates,
    idempotencyRecords: idempotentCreates,
    apiKeys: new MemoryApiKeyRepository(closed),
    transfer: memoryTransfer(pets),
    changes,
    idempotentChanges: memoryIdempotentChanges(changes, idempotentCreates),
    async check() {
      closed.throwIfAborted();
      pets.assertIdsLeft(1);
    },
    close: async () => closing.abort(closedError()),
  };
}
