import { type ApiKey, isActive, isApiKey } from '../domain/api-key.ts';
import type { ApiKeyRepository } from './ports/api-key-repository.ts';
import type { ApiKeyHolder, ApiKeyVerifier } from './ports/api-key-verifier.ts';
import { DAY } from './ports/idempotent-creates.ts';

const CACHE_LIMIT = 1000;

/** Verifies API keys, and records the day on which each key was last used. */
export class VerifyApiKey implements ApiKeyVerifier {
  readonly #keys: ApiKeyRepository;
  readonly #now: () => number;
  /** By key id, because `lastUsedOn` of a repository can be out of date for a while. */
  readonly #recordedOn = new Map<string, number>();

  constructor(keys: ApiKeyRepository, now: () => number = Date.now) {
    this.#keys = keys;
    this.#now = now;
  }

  /** Refuses a string that does not have the format of a key without reading the storage. */
  async verify(key: string): Promise<ApiKeyHolder | undefined> {
    if (!isApiKey(key)) return undefined;
    const apiKey = await this.#keys.find(key);
    const now = this.#now();
    // A storage without types can resolve with `null`.
    if (!apiKey || !isActive(apiKey, now)) return undefined;
    const { lastUsedOn = -Infinity } = apiKey;
    if (now - lastUsedOn >= DAY) void this.#recordUse(apiKey, now);
    return apiKey;
  }

  /** Nobody waits for the write. When it fails, the next use of the key on this day is recorded instead. */
  async #recordUse({ id }: ApiKey, now: number): Promise<void> {
    const today = now - (now % DAY);
    if (this.#recordedOn.get(id) === today) return;
    if (this.#recordedOn.size >= CACHE_LIMIT) this.#recordedOn.clear();
    this.#recordedOn.set(id, today);
    try {
      await this.#keys.setLastUsedOn(id, today);
    } catch {
      this.#recordedOn.delete(id);
    }
  }
}
