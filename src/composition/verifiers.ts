import { MemoryApiKeyRepository } from '../adapters/memory/index.ts';
import type { AnimalStore } from '../application/animal-store.ts';
import type { ApiKeyVerifier } from '../application/ports/api-key-verifier.ts';
import { apiKeyPrefix } from '../domain/api-key.ts';

/**
 * Creates a verifier that accepts the keys of the store and the keys of `API_KEYS`. The keys of `API_KEYS` have the ids
 * `env-1`, `env-2` and so on, in the order of `API_KEYS`.
 */
export function createApiKeyVerifier(
  store: Pick<AnimalStore, 'verifyApiKey'>,
  configuredKeys: readonly string[],
): ApiKeyVerifier {
  if (configuredKeys.length === 0) return { verify: (key) => store.verifyApiKey(key) };
  const configured = new MemoryApiKeyRepository('env-');
  for (const key of configuredKeys) {
    // The promise need not be awaited, because `add` stores the key immediately. Only the hash of the key is computed
    // asynchronously.
    void configured.add(key, { name: 'API_KEYS', prefix: apiKeyPrefix(key), createdAt: Date.now() });
  }
  return {
    verify: async (key) => (await store.verifyApiKey(key)) ?? (await configured.find(key)),
  };
}
