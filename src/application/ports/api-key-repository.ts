import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';

/** Saves the first key for its owner. */
export type SaveKey = () => void | Promise<void>;

/**
 * Stores the SHA-256 hash and the attributes of each API key, and never the key itself. Returned objects are frozen. A change
 * is durable, and visible in this process, when its promise resolves; other processes see it within 1 s. Every method can
 * reject with `overloaded` and with `storage_unavailable`.
 */
export interface ApiKeyRepository {
  /**
   * Resolves with the attributes of a key, also of a revoked or expired one, or with `undefined` for an unknown one. The time
   * of a comparison does not depend on the values of the hashes.
   */
  find(key: string): Promise<ApiKey | undefined>;

  /** Stores a key, and assigns an id, never twice. */
  add(key: string, about: NewApiKey): Promise<ApiKey>;

  /**
   * Stores a key as `add` does, or resolves with `undefined` when the store has ever had a key. Before it stores the key, calls
   * `save`, which must not use the storage, for one caller of all processes at a time. When `save` fails, stores nothing, and
   * rejects with its error.
   */
  addFirst(key: string, about: NewApiKey, save?: SaveKey): Promise<ApiKey | undefined>;

  /**
   * Stores a new key with the `callerId` of the old key, or its id, and sets the expiry of the old key to `endsAt`, unless it
   * expires earlier, in one transaction. Changes nothing and resolves with `undefined` when the old key does not exist, is
   * revoked, has expired at `about.createdAt`, or no longer has the expiry `old.expiresAt`. So only one of
   * several simultaneous rotations has an effect.
   */
  replace(old: ApiKey, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined>;

  /** Revokes a key, unless it is revoked already. Resolves with its attributes, or with `undefined` for an unknown key. */
  revoke(id: string, revokedAt: number): Promise<ApiKey | undefined>;

  /** Sets `lastUsedOn`, unless a later day is stored. Changes nothing when no key has this id. */
  setLastUsedOn(id: string, day: number): Promise<void>;

  /** Lists all keys in order of creation. */
  list(): Promise<readonly ApiKey[]>;
}
