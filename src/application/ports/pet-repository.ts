import type { NewPet, Pet } from '../../domain/pet.ts';
import type { PetFilter } from '../../domain/pet-filter.ts';

/** The query for a page of pets. */
export interface PetQuery extends PetFilter {
  /** 1 or more. */
  readonly limit: number;
  /** Only pets with an id greater than `after` are listed. By default, the list starts at the first pet. */
  readonly after?: bigint | undefined;
}

/** The options of a call. */
export interface CallOptions {
  /** How long a call to the store of a server is tried, in milliseconds. Other stores ignore it. By default, the store decides. */
  readonly timeout?: number | undefined;
  /**
   * Ends the wait for the call, which then rejects with the reason of the signal. A write that had begun can still take effect:
   * it rejects with `storage_unavailable`, and the error has its idempotency key.
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
 * Stores pets. Only `PetChanges` changes and removes them, if the storage has this port. Returned objects are frozen.
 *
 * After the promise of a write has resolved, every read that starts in this process returns the written data. Reads in
 * other processes return it within 1 s. Every method can reject with `overloaded` when a queue is full, and with
 * `storage_unavailable` when the storage cannot handle requests.
 */
export interface PetRepository {
  /**
   * Stores a pet, which is durable when the promise resolves, and assigns its id. Ids are positive, and no id is ever
   * assigned twice. Pets become visible in ascending order of their ids, also those of concurrent calls of all processes:
   * a read that sees a pet sees every pet with a smaller id. Rejects with `storage_unavailable` when all ids have been assigned.
   */
  add(pet: NewPet, options?: CallOptions): Promise<Pet>;

  /** Resolves with `undefined` when no pet has this id. */
  find(id: bigint, options?: CallOptions): Promise<Pet | undefined>;

  /**
   * Resolves with one page of the matching pets. To read all pages, a caller sets `after` to the id of the last pet of the
   * previous page. Every matching pet that existed when the first page was read is in exactly one page, unless it is removed, or
   * no longer matches. As long as the store has not changed, equal queries may return the same page object.
   */
  list(query: PetQuery, options?: CallOptions): Promise<PetPage>;
}

/** Lets a program check a storage that was written without types. */
export const PET_METHODS: Readonly<Record<keyof PetRepository, true>> = { add: true, find: true, list: true };
