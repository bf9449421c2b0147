import type { Storage } from '../../application/ports.ts';
import { MemoryApiKeyRepository } from './api-key-repository.ts';
import { MemoryPetRepository } from './pet-repository.ts';
import { MemoryPetTransfer } from './pet-transfer.ts';

/** A store that lives as long as the process. */
export function openMemoryStorage(): Storage {
  const pets = new MemoryPetRepository();
  return {
    pets,
    apiKeys: new MemoryApiKeyRepository(),
    transfer: new MemoryPetTransfer(pets),
    check: async () => {},
    close: async () => {},
  };
}
