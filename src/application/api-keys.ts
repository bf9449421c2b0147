import {
  API_KEY_BYTES,
  type ApiKey,
  apiKeyName,
  apiKeyPrefix,
  formatApiKey,
  isActive,
  type NewApiKey,
} from '../domain/api-key.ts';
import { AnimalStoreError, invalidRequest } from '../domain/errors.ts';
import { BOOLEAN, checkArgument } from './arguments.ts';
import type { ApiKeyRepository } from './ports/api-key-repository.ts';

/** A new API key and its attributes. Only the hash of the key is stored, so the key cannot be shown again. */
export interface IssuedApiKey {
  readonly key: string;
  readonly about: ApiKey;
}

/** The last millisecond of 9999, which is the last year with four digits. */
const LAST_EXPIRY = Date.UTC(10_000, 0) - 1;

/** Creates, lists, rotates and revokes API keys. Times are milliseconds since the Unix epoch. */
export class ApiKeys {
  readonly #keys: ApiKeyRepository;
  readonly #now: () => number;
  readonly #onEnd: (id: string) => void;

  /** @param onEnd is called after each write that revokes or rotates a key, even if the outcome of the write is unknown */
  constructor(keys: ApiKeyRepository, now: () => number = Date.now, onEnd: (id: string) => void = () => {}) {
    this.#keys = keys;
    this.#now = now;
    this.#onEnd = onEnd;
  }

  /** Creates a key. Rejects with `invalid_request` for an invalid name or for an expiry in the past or after 9999. */
  async create(name: string, expiresAt?: number, isReadOnly = false): Promise<IssuedApiKey> {
    const [key, draft] = this.#draft(apiKeyName(name), expiresAt, isReadOnly);
    return { key, about: await this.#keys.add(key, draft) };
  }

  /**
   * Creates the first key of the store, or resolves with `undefined` when the store has ever had a key. Calls `save` with the key
   * before the key is stored; only one process calls `save` at a time. When `save` fails, the key is not stored.
   */
  async createFirst(
    name: string,
    save?: (key: string) => void | Promise<void>,
  ): Promise<IssuedApiKey | undefined> {
    const [key, draft] = this.#draft(apiKeyName(name));
    // Most stores already have keys. For them, this read avoids a call of `addFirst`, which waits for other writers.
    if ((await this.#keys.list()).length > 0) return undefined;
    const about = await this.#keys.addFirst(key, draft, save && (() => save(key)));
    return about ? { key, about } : undefined;
  }

  /**
   * Creates a key with the name and the permissions of an old key. The old key then expires after `overlap` milliseconds, unless it
   * expires earlier anyway. The new key expires at `expiresAt`, or never if `expiresAt` is `null`. By default, the new key has the
   * same lifetime as the newest key of the same key holder. Rejects with `not_found` if the old key does not exist.
   * Rejects with `invalid_request` if an argument is invalid, if the old key is not active, or if a simultaneous
   * rotation changes the expiry of the old key.
   */
  async rotate(id: string, overlap: number, expiresAt?: number | null): Promise<IssuedApiKey> {
    const now = this.#now();
    if (!Number.isSafeInteger(overlap) || overlap < 0) {
      throw invalidRequest('the overlap must be 0 or more whole milliseconds');
    }
    const keys = await this.#keys.list();
    const old = activeKey(keys, id, now);
    const newest = keys.findLast((key) => callerOf(key) === callerOf(old)) ?? old;
    const newExpiry = expiresAt === undefined ? expiryLike(newest, now) : (expiresAt ?? undefined);
    const [key, draft] = this.#draft(old.name, newExpiry, old.isReadOnly);
    const endsAt = Math.min(now + overlap, LAST_EXPIRY);
    const about = await this.#end(id, () => this.#keys.replace(old, endsAt, key, draft));
    if (about) return { key, about };
    activeKey(await this.#keys.list(), id, this.#now());
    const fault = 'was rotated at the same time by another caller: list the keys, then decide';
    throw invalidRequest(`key ${id} ${fault}`);
  }

  /** Revokes a key at once, and resolves with its attributes. Rejects with `not_found` when the key does not exist. */
  async revoke(id: string): Promise<ApiKey> {
    const about = await this.#end(id, () => this.#keys.revoke(id, this.#now()));
    if (!about) throw noSuchKey(id);
    return about;
  }

  /** Lists all keys in order of creation, including revoked and expired keys. */
  async list(): Promise<readonly ApiKey[]> {
    return this.#keys.list();
  }

  /** Awaits the write, because a storage that is written in plain JavaScript may return a value or `null` instead of a promise. */
  async #end<T>(id: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.#onEnd(id);
    }
  }

  #draft(name: string, expiresAt?: number, isReadOnly = false): [key: string, draft: NewApiKey] {
    checkArgument('isReadOnly', isReadOnly, BOOLEAN);
    const createdAt = this.#now();
    if (expiresAt !== undefined) {
      if (!Number.isSafeInteger(expiresAt) || expiresAt <= createdAt)
        throw invalidRequest('the expiry must be in the future, in whole milliseconds');
      if (expiresAt > LAST_EXPIRY) throw invalidRequest('the expiry must not be later than the year 9999');
    }
    const key = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));
    return [key, { name, prefix: apiKeyPrefix(key), createdAt, expiresAt, isReadOnly }];
  }
}

function activeKey(keys: readonly ApiKey[], id: string, now: number): ApiKey {
  const apiKey = keys.find((key) => key.id === id);
  if (apiKey === undefined) throw noSuchKey(id);
  if (!isActive(apiKey, now)) throw invalidRequest(`key ${id} is revoked or expired: create a new one`);
  return apiKey;
}

function callerOf({ id, callerId = id }: ApiKey): string {
  return callerId;
}

function expiryLike({ createdAt, expiresAt }: ApiKey, now: number): number | undefined {
  return expiresAt === undefined ? undefined : Math.min(now + (expiresAt - createdAt), LAST_EXPIRY);
}

function noSuchKey(id: string): AnimalStoreError {
  return new AnimalStoreError('not_found', `there is no key with id ${id}`);
}
