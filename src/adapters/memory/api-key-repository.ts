/** API keys in memory. */

import { hashOf } from '../../application/entity-tag.ts';
import type { ApiKeyRepository, SaveKey } from '../../application/ports/api-key-repository.ts';
import { type ApiKey, isActive, type NewApiKey } from '../../domain/api-key.ts';

const CACHE_LIMIT = 1000;

/**
 * Finds keys by their SHA-256 hashes, so that the time of a look-up exposes nothing about a key. Found keys are cached, because
 * hashing is slow: browsers offer it only asynchronously, in Web Crypto.
 */
export class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #keys = new Map<string, ApiKey>();
  /** The ids of all keys by hash, and the ids of the cached keys by key. */
  readonly #idOfHash = new Map<string, string>();
  readonly #idOfKey = new Map<string, string>();
  readonly #closed: AbortSignal;
  /** Settled when no call of `addFirst` is in flight. */
  #addingFirst: Promise<unknown> = Promise.resolve();

  /** @param closed when this signal is aborted, every method rejects with the reason of the abort */
  constructor(closed: AbortSignal = new AbortController().signal) {
    this.#closed = closed;
  }

  async find(key: string): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const id = this.#idOfKey.get(key) ?? (await this.#lookUp(key));
    return id === undefined ? undefined : this.#keys.get(id);
  }

  async add(key: string, about: NewApiKey & Pick<ApiKey, 'callerId'>): Promise<ApiKey> {
    this.#closed.throwIfAborted();
    const id = String(this.#keys.size + 1);
    const stored = Object.freeze({ id, ...about });
    this.#keys.set(id, stored);
    this.#idOfHash.set(await hashOf(key), id);
    return stored;
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

  async replace(old: ApiKey, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const stored = this.#keys.get(old.id);
    if (!stored || stored.expiresAt !== old.expiresAt || !isActive(stored, about.createdAt)) return undefined;
    this.#change(stored, { expiresAt: Math.min(stored.expiresAt ?? endsAt, endsAt) });
    return this.add(key, { ...about, callerId: stored.callerId ?? stored.id });
  }

  async revoke(id: string, revokedAt: number): Promise<ApiKey | undefined> {
    this.#closed.throwIfAborted();
    const stored = this.#keys.get(id);
    return stored && this.#change(stored, { revokedAt: stored.revokedAt ?? revokedAt });
  }

  async setLastUsedOn(id: string, day: number): Promise<void> {
    this.#closed.throwIfAborted();
    const stored = this.#keys.get(id);
    if (stored && day > (stored.lastUsedOn ?? -Infinity)) this.#change(stored, { lastUsedOn: day });
  }

  async list(): Promise<readonly ApiKey[]> {
    this.#closed.throwIfAborted();
    return [...this.#keys.values()];
  }

  async #lookUp(key: string): Promise<string | undefined> {
    const id = this.#idOfHash.get(await hashOf(key));
    if (id === undefined) return undefined;
    if (this.#idOfKey.size >= CACHE_LIMIT) this.#idOfKey.clear();
    this.#idOfKey.set(key, id);
    return id;
  }

  #change(stored: ApiKey, change: Partial<ApiKey>): ApiKey {
    const changed = Object.freeze({ ...stored, ...change });
    this.#keys.set(stored.id, changed);
    return changed;
  }
}
