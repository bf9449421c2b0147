import type { ApiKeyHolder, ApiKeyRepository } from '../../application/ports.ts';
import { type ApiKey, isActive, type NewApiKey } from '../../domain/api-key.ts';

const DAY = 24 * 60 * 60 * 1000;

/** Bound of the kept verifications. */
const KEPT_KEYS_LIMIT = 1000;

interface StoredKey {
  /** A promise, since Web Crypto gives no other: the key has its place in the list at once. */
  readonly hash: Promise<Uint8Array>;
  about: ApiKey;
}

/**
 * The keys in a list. A key that comes for the first time is compared with every one of them, in constant time; whose
 * it is is kept. Hashes with Web Crypto, so that it works in a browser too.
 */
export class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #keys: StoredKey[] = [];
  readonly #known = new Map<string, StoredKey>();
  readonly #idPrefix: string;

  /** @param idPrefix what the ids start with, to tell the keys of several repositories apart */
  constructor(idPrefix = '') {
    this.#idPrefix = idPrefix;
  }

  async verify(key: string): Promise<ApiKeyHolder | undefined> {
    const stored = this.#known.get(key) ?? (await this.#lookUp(key));
    const now = Date.now();
    if (stored === undefined || !isActive(stored.about, now)) return undefined;
    const lastUsedOn = now - (now % DAY);
    if (stored.about.lastUsedOn !== lastUsedOn) this.#change(stored, { lastUsedOn });
    return stored.about;
  }

  async add(key: string, about: NewApiKey): Promise<ApiKey> {
    const id = `${this.#idPrefix}${this.#keys.length + 1}`;
    const stored = { hash: sha256(key), about: Object.freeze({ id, ...about }) };
    this.#keys.push(stored);
    await stored.hash;
    return stored.about;
  }

  async addFirst(key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    return this.#keys.length === 0 ? this.add(key, about) : undefined;
  }

  async replace(id: string, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    const old = this.#find(id);
    if (old === undefined || !isActive(old.about, about.createdAt)) return undefined;
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

  async #lookUp(key: string): Promise<StoredKey | undefined> {
    const hash = await sha256(key);
    let found: StoredKey | undefined;
    for (const stored of this.#keys) {
      if (isEqual(hash, await stored.hash)) found = stored;
    }
    if (found === undefined) return undefined;
    if (this.#known.size >= KEPT_KEYS_LIMIT) this.#known.clear();
    this.#known.set(key, found);
    return found;
  }

  #find(id: string): StoredKey | undefined {
    return this.#keys.find(({ about }) => about.id === id);
  }

  #change(stored: StoredKey, change: Partial<ApiKey>): ApiKey {
    stored.about = Object.freeze({ ...stored.about, ...change });
    return stored.about;
  }
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** Takes the same time wherever two hashes differ. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? 0);
  return difference === 0;
}
