/** How the keys of the configuration and those of the storage are one. */

import { MemoryApiKeyRepository } from '../adapters/memory/api-key-repository.ts';
import type { ApiKeyVerifier } from '../application/ports.ts';
import { apiKeyHint } from '../domain/api-key.ts';

/** The keys of `API_KEYS`, in their order. Their ids tell them from stored ones: `env-1`, `env-2`. */
export function configuredKeys(keys: readonly string[]): ApiKeyVerifier {
  const repository = new MemoryApiKeyRepository('env-');
  for (const key of keys) {
    void repository.add(key, { name: 'API_KEYS', hint: apiKeyHint(key), createdAt: Date.now() });
  }
  return repository;
}

/** Asks one verifier after the other. */
export function firstOf(...verifiers: readonly ApiKeyVerifier[]): ApiKeyVerifier {
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
