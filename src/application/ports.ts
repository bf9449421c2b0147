/**
 * What the application needs from the world outside, and the contract that every adapter keeps.
 * Each port has a contract suite that runs on every adapter.
 *
 * Any method can reject with an `AnimalStoreError` of code `storage_unavailable`, or `overloaded` when too much waits.
 */

import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { NewPet, Pet, PetStatus } from '../domain/pet.ts';
import type { StorageFault } from './storage-fault.ts';

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

/** Tells good keys from others. */
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

  /**
   * Stores a new key and ends an old one at `endsAt`, unless it ends earlier. Stores nothing and resolves with
   * `undefined` when there is no such key, or when it is revoked or expired at the new key's `createdAt`.
   */
  replace(id: string, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined>;

  /** Ends a key from now on, and gives back what is known about it; `undefined` when there is no such key. */
  revoke(id: string, revokedAt: number): Promise<ApiKey | undefined>;

  /** Every key, in order of creation. */
  list(): Promise<readonly ApiKey[]>;
}

/** What an import tells on its way, and what ends it. */
export interface ImportOptions {
  /**
   * Told of an animal whose id another one of the same import has, before the next batch is asked for. The animal is
   * left out. What this throws ends the import; so does such an animal where this is left out.
   */
  readonly onTaken?: (pet: Pet) => void;
  /** Told now and then, once all batches are there, how many animals are in their place. */
  readonly onStored?: (count: number) => void;
  /** Ends the import when aborted, up to the moment when it is durable. */
  readonly signal?: AbortSignal;
}

/** Animals in bulk. The memory that it takes does not grow with their number, where the engine keeps them elsewhere. */
export interface PetTransfer {
  /**
   * Stores the animals of all batches, and resolves with their number once they are durable. All or none: when anything
   * fails (the batches, the engine, the signal, the process), the store is as it was. Until then no read sees one.
   *
   * Animals without an id are given one, in their order, as `PetRepository.add` does. Animals with an id keep it, in any
   * order, in a store that never had an animal; rejects with `invalid_request` for any other store, and when only some
   * have an id. Other writers may have to wait while the animals are put in their place, not while batches are awaited.
   */
  importPets(batches: AsyncIterable<readonly (NewPet | Pet)[]>, options?: ImportOptions): Promise<number>;

  /**
   * Every animal that matches, ascending by id, as the store was when the first batch was asked for, whatever is written
   * meanwhile. No batch is empty. Leaving the loop lets go of what was held.
   */
  exportPets(query?: Pick<PetQuery, 'status'>): AsyncIterable<readonly Pet[]>;
}

/** How a backup treats a file that is there, what it tells on its way, and what ends it. */
export interface BackupOptions {
  /** Whether a file that is there already is replaced, rather than refused. */
  readonly overwrite?: boolean;
  /** Told now and then which share is done, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Ends the backup when aborted; nothing is left of it then. */
  readonly signal?: AbortSignal;
}

/** One engine with all ports on it. */
export interface Storage {
  readonly pets: PetRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly transfer: PetTransfer;

  /**
   * Copies the whole store, keys included, into a file, as it is at one moment after the call; others write meanwhile.
   * Resolves once the copy is durable; before that there is no file of this name, or the old one. Rejects with
   * `invalid_request` when the file cannot be one. Left out by an engine that has tools of its own for this.
   */
  readonly backup?: (file: string, options?: BackupOptions) => Promise<void>;

  /**
   * Rejects with `storage_unavailable` when the engine cannot serve: when the last write failed for a reason of the
   * storage and none has worked since, or reading fails. It finds out by itself when service is back, without a write
   * of anybody. The error can be a {@link StorageFault}, whose reason is reported to load balancers.
   * It settles within about a second, and can be called often: calls that come close together share one look.
   */
  check(): Promise<void>;

  /** Finishes what was accepted, then lets go of everything. May be called again. */
  close(): Promise<void>;
}
