/** `animal-store/memory`: both ports in memory, which run wherever JavaScript does. */

export { MemoryApiKeyRepository } from './api-key-repository.ts';
export { openMemoryStorage } from './storage.ts';
