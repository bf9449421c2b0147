import { hash } from 'node:crypto';
import type { KeyVerifier } from '../adapters/http/portable.ts';
import type { ApiKeyHolder, ApiKeyVerifier } from '../application/ports/api-key-verifier.ts';
import { secretPartFinder } from '../domain/api-key.ts';

/** Accepts the stored keys and the keys of `API_KEYS`. The latter get the ids `env-1`, `env-2` and so on, in list order. */
export function createApiKeyVerifier(stored: ApiKeyVerifier, configuredKeys: readonly string[]): KeyVerifier {
  if (configuredKeys.length === 0) return stored;
  const holders = new Map(configuredKeys.map(holderOf));
  return {
    // Only hashes are compared, so the duration of a comparison says nothing about a key.
    async verify(key, options) {
      const holder = holders.get(hashOf(key));
      // A stored key has precedence. To read metrics, a configured key is valid even while the stored keys cannot be read.
      const found = stored.verify(key, options);
      return (await (options?.duringOutage && holder ? found.catch(() => holder) : found)) ?? holder;
    },
    hasPartOfKey: secretPartFinder(configuredKeys),
  };
}

/** The caller id is derived from the key itself, and not from its position in `API_KEYS`, which can change. */
function holderOf(key: string, index: number): [hashed: string, holder: ApiKeyHolder] {
  const hashed = hashOf(key);
  return [hashed, { id: `env-${index + 1}`, name: 'API_KEYS', callerId: `env-${hashed.slice(0, 22)}` }];
}

function hashOf(key: string): string {
  return hash('sha256', key, 'base64url');
}
