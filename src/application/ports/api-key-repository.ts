import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';

/** Saves the first key where its owner finds it. */
export type SaveKey = () => void | Promise<void>;

/**
 * Stores the SHA-256 hash and the attributes of each API key, and never the key itself. Does not decide whether a key
 * is active: the caller does. Only `replace` checks that the old key is active, because this check and the change must
 * be in one transaction. Returned objects are frozen.
 *
 * A change is durable when its promise resolves. Every call that starts later in this process sees the change. Calls in
 * other processes see the change within 1 s.
 *
 * Every method can reject with an `AnimalStoreError`: with the code `overloaded` when a queue is full, and with the
 * code `storage_unavailable` when the storage cannot handle requests.
 */
export interface ApiKeyRepository {
  /**
   * Resolves with the attributes of a key, even when the key is revoked or expired. Resolves with `undefined` when the
   * key was never stored. The time to compare two hashes does not depend on their values, so that response times tell
   * nothing about stored hashes.
   */
  find(key: string): Promise<ApiKey | undefined>;

  /** Stores the hash of a key and its attributes, and assigns an id. No id is ever assigned twice. */
  add(key: string, about: NewApiKey): Promise<ApiKey>;

  /**
   * Stores a key as {@link ApiKeyRepository.add} does, but only when the store has never had a key. Otherwise stores
   * nothing and resolves with `undefined`.
   *
   * `save` is called only when the key is going to be stored, and the key is stored when `save` has succeeded. Of
   * concurrent calls, in this process or in another one, only one calls `save` at a time. When `save` fails, nothing is
   * stored, and the promise rejects with the error of `save`. `save` must not use the storage.
   */
  addFirst(key: string, about: NewApiKey, save?: SaveKey): Promise<ApiKey | undefined>;

  /**
   * Stores a new key, and sets the expiry of the old key with the id `old.id` to `endsAt`, in one transaction. The new key
   * gets the `callerId` of the old key, or the id of the old key. An old key that expires before `endsAt` keeps its expiry.
   * Changes nothing and resolves with `undefined` when the old key does not exist, is revoked, has expired at the time
   * `about.createdAt`, or no longer has the expiry `old.expiresAt`. Therefore, of simultaneous calls that end the old key
   * earlier, exactly one has an effect, whatever the clocks of the callers show.
   */
  replace(
    old: Pick<ApiKey, 'id' | 'expiresAt'>,
    endsAt: number,
    key: string,
    about: NewApiKey,
  ): Promise<ApiKey | undefined>;

  /**
   * Revokes a key, and resolves with its attributes. Resolves with `undefined` when the key does not exist. A key that
   * is already revoked keeps its time of revocation.
   */
  revoke(id: string, revokedAt: number): Promise<ApiKey | undefined>;

  /**
   * Sets `lastUsedOn` of a key to `day`, unless a later day is stored. `day` is the start of a UTC day in milliseconds
   * since the Unix epoch. Changes nothing when no key has this id.
   */
  setLastUsedOn(id: string, day: number): Promise<void>;

  /** Lists all keys in order of creation. */
  list(): Promise<readonly ApiKey[]>;
}
