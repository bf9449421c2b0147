/**
 * What the application needs from the world outside, and the contract that every adapter keeps.
 * Each port has a contract suite that runs on every adapter.
 *
 * Any method can reject with an `AnimalStoreError` of code `storage_unavailable`, or `overloaded` when too much waits.
 */

import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { NewPet, Pet, PetStatus } from '../domain/pet.ts';

/** Which animals, and from where on. */
export interface PetQuery {
  /** How many at the most, 1 or more. */
  readonly limit: number;
  /** Only animals in this state; all when left out. */
  readonly status?: PetStatus | undefined;
  /** Only animals whose id is greater; from the first when left out. */
  readonly after?: bigint | undefined;
}

/** A part of the animals, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** Whether more animals matched when the page was read. */
  readonly more: boolean;
}

/** The animals. What it gives back is the caller's to keep: frozen, never changed afterwards. */
export interface PetRepository {
  /**
   * Stores an animal and gives it an id: greater than every id given before, never given again.
   * The animal is durable when the promise resolves, and every read that starts later sees it.
   */
  add(pet: NewPet): Promise<Pet>;

  /** The animal with this id, `undefined` when there is none. */
  find(id: bigint): Promise<Pet | undefined>;

  /**
   * The animals that match, ascending by id. Going on after the last id of a page, again and again, gives every
   * animal that was there at the beginning exactly once, whatever is added meanwhile.
   * The same page object may be given again while nothing has changed.
   */
  list(query: PetQuery): Promise<PetPage>;
}

/** Whom a good key belongs to. */
export interface ApiKeyHolder {
  readonly id: string;
  readonly name: string;
}

export interface ApiKeyVerifier {
  /**
   * Tells whose key it is; `undefined` when it is nobody's: unknown, expired or revoked, all told by the same path.
   * Only a SHA-256 hash is stored, and hashes are compared in constant time.
   */
  verify(key: string): Promise<ApiKeyHolder | undefined>;
}

/** The stored keys. A change is durable when its promise resolves, and the next `verify` follows it. */
export interface ApiKeyRepository extends ApiKeyVerifier {
  /** Stores the hash of a key and what is known about it. */
  add(key: string, about: NewApiKey): Promise<ApiKey>;

  /** Like {@link ApiKeyRepository.add}, but only into a store that never had a key; `undefined` when it had one. */
  addFirst(key: string, about: NewApiKey): Promise<ApiKey | undefined>;

  /** Stores a new key and ends an old one at `endsAt`, unless it ends earlier: both or, when the old one is not there, neither. */
  replace(id: string, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined>;

  /** Ends a key from now on, and gives back what is known about it; `undefined` when there is no such key. */
  revoke(id: string, revokedAt: number): Promise<ApiKey | undefined>;

  /** Every key, in order of creation. */
  list(): Promise<readonly ApiKey[]>;
}

/** One engine with both ports on it. */
export interface Storage {
  readonly pets: PetRepository;
  readonly apiKeys: ApiKeyRepository;

  /** Rejects with `storage_unavailable` when the engine cannot serve. */
  check(): Promise<void>;

  /** Finishes what was accepted, then lets go of everything. May be called again. */
  close(): Promise<void>;
}
