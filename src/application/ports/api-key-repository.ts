import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';

/** Saves the first key for its owner. */
export type SaveKey = () => void | Promise<void>;

/**
 * Stores the SHA-256 hash and the attributes of each API key, and never the key itself. The caller decides whether a key
 * is active, except in `replace`. Returned objects are frozen.
 *
 * A change is durable when its promise resolves. Every call that starts later in this process sees the change. Calls in
 * other processes see the change within 1 s. Every method can reject with `overloaded` and with `storage_unavailable`.
 */
export interface ApiKeyRepository {
  /**
   * Resolves with the attributes of a key, even when the key is revoked or expired, or with `undefined` when the key was
   * never stored. The time to compare two hashes does not depend on their values.
   */
  find(key: string): Promise<ApiKey | undefined>;

  /** Stores the hash of a key and its attributes, and assigns an id. No id is ever assigned twice. */
  add(key: string, about: NewApiKey): Promise<ApiKey>;

  /**
   * Stores a key as `add` does, or resolves with `undefined` when the store has ever had a key. Before the key is stored,
   * `save` is called, by one caller of all processes at a time. When `save` fails, nothing is stored, and the promise
   * rejects with the error of `save`. `save` must not use the storage.
   */
  addFirst(key: string, about: NewApiKey, save?: SaveKey): Promise<ApiKey | undefined>;

  /**
   * Stores a new key, and sets the expiry of the old key to `endsAt`, unless it expires earlier, in one transaction. The
   * new key gets the `callerId` of the old key, or its id. Changes nothing and resolves with `undefined` when the old key
   * does not exist, is revoked, has expired at the time `about.createdAt`, or has no longer the expiry `old.expiresAt`: of
   * simultaneous calls that end the old key earlier, exactly one has an effect.
   */
  replace(old: ApiKey, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined>;

  /**
   * Revokes a key, and resolves with its attributes, or with `undefined` when the key does not exist. A key that is
   * already revoked keeps its time of revocation.
   */
  revoke(id: string, revokedAt: number): Promise<ApiKey | undefined>;

  /** Sets `lastUsedOn`, unless a later day is stored. Changes nothing when no key has this id. */
  setLastUsedOn(id: string, day: number): Promise<void>;

  /** Lists all keys in order of creation. */
  list(): Promise<readonly ApiKey[]>;
}
