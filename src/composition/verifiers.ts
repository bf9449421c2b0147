import { MemoryApiKeyRepository } from '../adapters/memory/index.ts';
import type { AnimalStore } from '../application/animal-store.ts';
import type { ApiKeyVerifier } from '../application/ports/api-key-verifier.ts';
import { apiKeyPrefix } from '../domain/api-key.ts';

/**
 * Creates a verifier that accepts the keys in the store and the keys in the environment variable `API_KEYS`. The keys
 * in `API_KEYS` have the ids `env-1`, `env-2` and so on, in their order in the variable.
 */
export function createApiKeyVerifier(
  store: Pick<AnimalStore, 'verifyApiKey'>,
  configuredKeys: readonly string[],
): ApiKeyVerifier {
  if (configuredKeys.length === 0) return { verify: (key) => store.verifyApiKey(key) };
  const configured = new MemoryApiKeyRepository('env-');
  for (const key of configuredKeys) {
    // There is no need to await the promise: `add` stores the key immediately, and `find` waits until the hash of the
    // key is computed.
    void configured.add(key, { name: 'API_KEYS', prefix: apiKeyPrefix(key), createdAt: Date.now() });
  }
  return {
    verify: async (key) => (await store.verifyApiKey(key)) ?? (await configured.find(key)),
  };
}
