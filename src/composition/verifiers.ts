import { createHash } from 'node:crypto';
import { MemoryApiKeyRepository } from '../adapters/memory/index.ts';
import type { AnimalStore } from '../application/animal-store.ts';
import type { ApiKeyVerifier } from '../application/ports/api-key-verifier.ts';
import { apiKeyPrefix, secretPartFinder } from '../domain/api-key.ts';

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
  const callerIds = new Map(configuredKeys.map((key) => [key, callerIdOf(key)]));
  for (const key of configuredKeys) {
    // There is no need to await the promise: `add` stores the key immediately, and `find` waits until the hash of the
    // key is computed.
    void configured.add(key, { name: 'API_KEYS', prefix: apiKeyPrefix(key), createdAt: Date.now() });
  }
  return {
    async verify(key) {
      const holder = await store.verifyApiKey(key);
      if (holder !== undefined) return holder;
      const found = await configured.find(key);
      return found && { id: found.id, name: found.name, callerId: callerIds.get(key) };
    },
    hasPartOfKey: secretPartFinder(configuredKeys),
  };
}

/**
 * Returns the caller id of a key in `API_KEYS`. The id is derived from the key, because the position of a key in the
 * variable can change.
 */
function callerIdOf(key: string): string {
  return `env-${createHash('sha256').update(key).digest('base64url').slice(0, 22)}`;
}
