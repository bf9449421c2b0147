/** `animal-store/memory`: the storage in memory, for every JavaScript platform. */

export { MemoryApiKeyRepository } from './api-key-repository.ts';
export { openMemoryStorage } from './storage.ts';
