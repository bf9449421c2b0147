import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';

/** Hands the first key to its owner, for example in a file. Gets no argument, because the caller of `addFirst` knows the key. */
export type SaveKey = () => void | Promise<void>;

/**
 * Stores the SHA-256 hash and the attributes of each API key, and never the key itself. Returned objects are frozen. A change is
 * durable, and visible in this process, when its promise resolves; other processes see it within 1 s. Every method can reject with
 * `overloaded` and with `storage_unavailable`.
 */
export interface ApiKeyRepository {
  /**
   * Resolves with the attributes of a key, even if it is revoked or expired, or with `undefined` for an unknown key. The time to
   * compare two hashes does not depend on their values.
   */
  find(key: string): Promise<ApiKey | undefined>;

  /** Stores a key, and assigns an id that no other key has ever had. */
  add(key: string, about: NewApiKey): Promise<ApiKey>;

  /**
   * Stores a key as `add` does, or resolves with `undefined` when the store has ever had a key. Calls `save` before it stores the
   * key. Only one process calls `save` at a time. `save` must not use the storage. When `save` fails, stores nothing, and rejects
   * with the error of `save`.
   */
  addFirst(key: string, about: NewApiKey, save?: SaveKey): Promise<ApiKey | undefined>;

  /**
   * In one transaction, stores a new key, and sets the expiry of the old key to `endsAt`, unless the old key expires earlier. The
   * `callerId` of the new key is that of the old key or, if the old key has none, the id of the old key. Changes nothing and
   * resolves with `undefined` when the old key does not exist, is revoked, has expired by `about.createdAt`, or no longer has the
   * expiry `old.expiresAt`. Therefore, of several simultaneous rotations that shorten the life of the old key, only one succeeds.
   */
  replace(old: ApiKey, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined>;

  /** Revokes a key, unless it is revoked already. Resolves with its attributes, or with `undefined` for an unknown key. */
  revoke(id: string, revokedAt: number): Promise<ApiKey | undefined>;

  /** Sets `lastUsedOn`, unless a later day is stored. Changes nothing when no key has this id. */
  setLastUsedOn(id: string, day: number): Promise<void>;

  /** Lists all keys in order of creation. */
  list(): Promise<readonly ApiKey[]>;
}
