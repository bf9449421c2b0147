/** How the keys of the configuration and those of the storage are one. */

import { MemoryApiKeyRepository } from '../adapters/memory/api-key-repository.ts';
import type { ApiKeyVerifier } from '../application/ports.ts';
import { apiKeyHint } from '../domain/api-key.ts';

/** The stored keys, and beside them those of `API_KEYS`, whose ids are `env-1`, `env-2` in their order. */
export function allKeys(stored: ApiKeyVerifier, keys: readonly string[]): ApiKeyVerifier {
  return keys.length === 0 ? stored : firstOf(stored, configuredKeys(keys));
}

function configuredKeys(keys: readonly string[]): ApiKeyVerifier {
  const repository = new MemoryApiKeyRepository('env-');
  for (const key of keys) {
    void repository.add(key, { name: 'API_KEYS', hint: apiKeyHint(key), createdAt: Date.now() });
  }
  return repository;
}

/** Asks one verifier after the other. */
function firstOf(...verifiers: readonly ApiKeyVerifier[]): ApiKeyVerifier {
  return {
    async verify(key) {
      for (const verifier of verifiers) {
        const holder = await verifier.verify(key);
        if (holder !== undefined) return holder;
      }
      return undefined;
    },
  };
}
