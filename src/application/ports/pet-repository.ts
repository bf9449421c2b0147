import type { NewPet, Pet } from '../../domain/pet.ts';
import type { PetFilter } from '../../domain/pet-filter.ts';

/** The query for a page of pets. */
export interface PetQuery extends PetFilter {
  /** 1 or more. */
  readonly limit: number;
  /** Only pets with an id above this one are listed. By default, the list starts at the first pet. */
  readonly after?: bigint | undefined;
}

/** The options of a call. */
export interface CallOptions {
  /** The time limit of each request to a server's API, including retries, in milliseconds. Calls that send no request ignore it. */
  readonly timeout?: number | undefined;
  /**
   * When this signal is aborted, a call of a store rejects at once with the reason of the signal. But a write that has begun
   * rejects with `storage_unavailable`, and may still take effect. The error contains the idempotency key, if there is one. A
   * storage may ignore the signal: the store then stops waiting for the call.
   */
  readonly signal?: AbortSignal | undefined;
}

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** Whether more pets matched when the page was read. */
  readonly more: boolean;
}

/**
 * Stores pets. Only the port `PetChanges`, which a storage can lack, changes and removes them. Returned objects are frozen. When
 * the promise of a write resolves, reads of this process see the write; reads of other processes see it within 1 s. Every method
 * can reject with `overloaded` when a queue is full, and with `storage_unavailable` when the storage cannot handle requests.
 */
export interface PetRepository {
  /**
   * Stores a pet, and assigns a positive id that no other pet has ever had. The pet is durable when the promise resolves. A read
   * that sees a pet also sees every pet with a smaller id, even one that another process has added. Rejects with
   * `storage_unavailable` when all ids have been assigned.
   */
  add(pet: NewPet, options?: CallOptions): Promise<Pet>;

  /** Resolves with `undefined` when no pet has this id. */
  find(id: bigint, options?: CallOptions): Promise<Pet | undefined>;

  /**
   * Resolves with one page of the matching pets. When each call sets `after` to the last id of the previous page, the pages
   * contain, exactly once, each pet that matched at the first call, unless that pet is removed or no longer matches. Calls with
   * equal queries may resolve with the same object.
   */
  list(query: PetQuery, options?: CallOptions): Promise<PetPage>;
}
