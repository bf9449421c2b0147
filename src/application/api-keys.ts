import {
  API_KEY_BYTES,
  type ApiKey,
  apiKeyHint,
  apiKeyName,
  formatApiKey,
  isActive,
  type NewApiKey,
} from '../domain/api-key.ts';
import { AnimalStoreError } from '../domain/errors.ts';
import type { ApiKeyRepository } from './ports.ts';

/** A key that was just made. The key itself is nowhere else: it cannot be shown again. */
export interface IssuedApiKey {
  readonly key: string;
  readonly about: ApiKey;
}

/** Issues, lists and ends keys. Times are milliseconds since the Unix epoch. */
export class ApiKeys {
  readonly #keys: ApiKeyRepository;
  readonly #now: () => number;

  constructor(keys: ApiKeyRepository, now: () => number = Date.now) {
    this.#keys = keys;
    this.#now = now;
  }

  /** Makes a key. Rejects with `invalid_request` when the name is no name or the time of expiry is not ahead. */
  async create(name: string, expiresAt?: number): Promise<IssuedApiKey> {
    const [key, about] = this.#draft(apiKeyName(name), expiresAt);
    return { key, about: await this.#keys.add(key, about) };
  }

  /** Makes a key only when the store never had one; `undefined` otherwise, also when another process was first. */
  async createFirst(name: string): Promise<IssuedApiKey | undefined> {
    const [key, draft] = this.#draft(apiKeyName(name));
    const about = await this.#keys.addFirst(key, draft);
    return about && { key, about };
  }

  /**
   * Makes a key of the same name in place of an old one, which ends `overlap` milliseconds from now.
   * Rejects with `not_found` when there is no such key, with `invalid_request` when it is over already or the
   * overlap is no whole number of milliseconds or the new key's time of expiry is not ahead.
   */
  async rotate(id: string, overlap: number, expiresAt?: number): Promise<IssuedApiKey> {
    const now = this.#now();
    if (!Number.isSafeInteger(overlap) || overlap < 0) {
      throw invalid('the overlap must be 0 or more whole milliseconds');
    }
    const old = await this.#activeKey(id, now);
    const [key, draft] = this.#draft(old.name, expiresAt);
    const about = await this.#keys.replace(id, now + overlap, key, draft);
    if (about === undefined) {
      await this.#activeKey(id, now);
      throw noSuchKey(id);
    }
    return { key, about };
  }

  /** Ends a key now. Rejects with `not_found` when there is no such key. Ending it again changes nothing. */
  async revoke(id: string): Promise<ApiKey> {
    const about = await this.#keys.revoke(id, this.#now());
    if (about === undefined) throw noSuchKey(id);
    return about;
  }

  /** Every key, in order of creation, also those that are over. */
  async list(): Promise<readonly ApiKey[]> {
    return this.#keys.list();
  }

  async #activeKey(id: string, now: number): Promise<ApiKey> {
    const about = (await this.#keys.list()).find((key) => key.id === id);
    if (about === undefined) throw noSuchKey(id);
    if (!isActive(about, now)) throw invalid(`key ${id} is revoked or expired: create a new one`);
    return about;
  }

  #draft(name: string, expiresAt?: number): [key: string, about: NewApiKey] {
    const createdAt = this.#now();
    if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > createdAt)) {
      throw invalid('the time of expiry must be in the future, in whole milliseconds');
    }
    const key = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));
    return [key, { name, hint: apiKeyHint(key), createdAt, expiresAt }];
  }
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}

function noSuchKey(id: string): AnimalStoreError {
  return new AnimalStoreError('not_found', `there is no key with id ${id}`);
}
