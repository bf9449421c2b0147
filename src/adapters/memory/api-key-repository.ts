import type { ApiKeyRepository, SaveKey } from '../../application/ports/api-key-repository.ts';
import { type ApiKey, isActive, type NewApiKey } from '../../domain/api-key.ts';

/** The maximum number of cached keys. */
const CACHE_LIMIT = 1000;

interface StoredKey {
  about: ApiKey;
}

/**
 * Stores the attributes of the keys by id, and finds them by the SHA-256 hash of the key. Whoever does not know a key
 * cannot choose its hash, so the time of a look-up tells nothing about the key. Found keys are cached, because hashing
 * with Web Crypto, which browsers support, is asynchronous.
 */
export class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #keys = new Map<string, StoredKey>();
  readonly #byHash = new Map<string, StoredKey>();
  readonly #found = new Map<string, StoredKey>();
  readonly #idPrefix: string;
  readonly #closed: AbortSignal;
  /** Settled when no call of `addFirst` is in flight. */
  #addingFirst: Promise<unknown> = Promise.resolve();

  /**
   * @param idPrefix the prefix of every key id; different prefixes keep the ids of several repositories distinct
   * @param closed when this signal is aborted, every method rejects with the reason of the abort
   */
  constructor(idPrefix = '', closed: AbortSignal = new AbortController().signal) {
    this.#idPrefix = idPrefix;
    this.#closed = closed;
  }

  async find(key: string): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const stored = this.#found.get(key) ?? (await this.#lookUp(key));
    return stored?.about;
  }

  async add(key: string, about: NewApiKey): Promise<ApiKey> {
    this.#closed.throwIfAborted();
    const id = `${this.#idPrefix}${this.#keys.size + 1}`;
    const stored = { about: Object.freeze({ id, ...about }) };
    this.#keys.set(id, stored);
    this.#byHash.set(await sha256(key), stored);
    return stored.about;
  }

  async addFirst(key: string, about: NewApiKey, save?: SaveKey): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const added = this.#addingFirst.then(async () => {
      if (this.#keys.size > 0) return undefined;
      await save?.();
      return await this.add(key, about);
    });
    this.#addingFirst = added.catch(() => {});
    return await added;
  }

  async replace(
    { id, expiresAt }: Pick<ApiKey, 'id' | 'expiresAt'>,
    endsAt: number,
    key: string,
    about: NewApiKey,
  ): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const old = this.#keys.get(id);
    if (old === undefined || old.about.expiresAt !== expiresAt || !isActive(old.about, about.createdAt)) {
      return undefined;
    }
    this.#change(old, { expiresAt: Math.min(old.about.expiresAt ?? endsAt, endsAt) });
    const successor = { ...about, callerId: old.about.callerId ?? id };
    return this.add(key, successor);
  }

  async revoke(id: string, revokedAt: number): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const stored = this.#keys.get(id);
    return stored && this.#change(stored, { revokedAt: stored.about.revokedAt ?? revokedAt });
  }

  async setLastUsedOn(id: string, day: number): Promise<void> {
    this.#closed.throwIfAborted();
    const stored = this.#keys.get(id);
    if (stored === undefined || day <= (stored.about.lastUsedOn ?? -Infinity)) return;
    this.#change(stored, { lastUsedOn: day });
  }

  async list(): Promise<readonly ApiKey[]> {
    this.#closed.throwIfAborted();
    return Array.from(this.#keys.values(), ({ about }) => about);
  }

  async #lookUp(key: string): Promise<StoredKey | undefined> {
    const found = this.#byHash.get(await sha256(key));
    if (found === undefined) return undefined;
    if (this.#found.size >= CACHE_LIMIT) this.#found.clear();
    this.#found.set(key, found);
    return found;
  }

  #change(stored: StoredKey, change: Partial<ApiKey>): ApiKey {
    stored.about = Object.freeze({ ...stored.about, ...change });
    return stored.about;
  }
}

/** Returns the hash of a key, one character per byte. */
async function sha256(key: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key));
  return String.fromCharCode(...new Uint8Array(hash));
}
