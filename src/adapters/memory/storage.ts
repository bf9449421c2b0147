import type { Storage } from '../../application/ports.ts';
import { MemoryApiKeyRepository } from './api-key-repository.ts';
import { MemoryPetRepository } from './pet-repository.ts';

/** A store that lives as long as the process. */
export function openMemoryStorage(): Storage {
  return {
    pets: new MemoryPetRepository(),
    apiKeys: new MemoryApiKeyRepository(),
    check: async () => {},
    close: async () => {},
  };
}
