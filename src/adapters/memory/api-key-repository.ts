import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKeyHolder, ApiKeyRepository } from '../../application/ports.ts';
import { type ApiKey, isActive, type NewApiKey } from '../../domain/api-key.ts';

const DAY = 24 * 60 * 60 * 1000;

interface StoredKey {
  readonly hash: Buffer;
  about: ApiKey;
}

/** The keys in a list. Every verification compares with every key, in constant time. */
export class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #keys: StoredKey[] = [];
  readonly #idPrefix: string;

  /** @param idPrefix what the ids start with, to tell the keys of several repositories apart */
  constructor(idPrefix = '') {
    this.#idPrefix = idPrefix;
  }

  async verify(key: string): Promise<ApiKeyHolder | undefined> {
    const hash = sha256(key);
    const now = Date.now();
    let holder: ApiKeyHolder | undefined;
    for (const stored of this.#keys) {
      const same = timingSafeEqual(hash, stored.hash);
      if (!same || !isActive(stored.about, now)) continue;
      const lastUsedOn = now - (now % DAY);
      if (stored.about.lastUsedOn !== lastUsedOn) this.#change(stored, { lastUsedOn });
      holder = stored.about;
    }
    return holder;
  }

  async add(key: string, about: NewApiKey): Promise<ApiKey> {
    const id = `${this.#idPrefix}${this.#keys.length + 1}`;
    const stored = { hash: sha256(key), about: Object.freeze({ id, ...about }) };
    this.#keys.push(stored);
    return stored.about;
  }

  async addFirst(key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    return this.#keys.length === 0 ? this.add(key, about) : undefined;
  }

  async replace(id: string, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    const old = this.#find(id);
    if (old === undefined) return undefined;
    this.#change(old, { expiresAt: Math.min(old.about.expiresAt ?? endsAt, endsAt) });
    return this.add(key, about);
  }

  async revoke(id: string, revokedAt: number): Promise<ApiKey | undefined> {
    const stored = this.#find(id);
    return stored && this.#change(stored, { revokedAt: stored.about.revokedAt ?? revokedAt });
  }

  async list(): Promise<readonly ApiKey[]> {
    return this.#keys.map(({ about }) => about);
  }

  #find(id: string): StoredKey | undefined {
    return this.#keys.find(({ about }) => about.id === id);
  }

  #change(stored: StoredKey, change: Partial<ApiKey>): ApiKey {
    stored.about = Object.freeze({ ...stored.about, ...change });
    return stored.about;
  }
}

function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
