import type { Pet } from '../../domain/pet.ts';
import type { CallOptions } from './pet-repository.ts';

/** One version of a pet. */
export interface PetVersion {
  /** `undefined` when the pet was removed. */
  readonly pet: Pet | undefined;
  /** The number of the write that made this version. The revision of a pet that has never changed is its id. */
  readonly revision: bigint;
}

/** The query for a page of the feed of changes. */
export interface ChangesQuery {
  /** Only versions with a revision above this one are listed. By default, the page is the first one of the feed. */
  readonly after?: bigint | undefined;
  /** The maximum number of versions, 1 or more. */
  readonly limit: number;
}

/** The newest version of a pet, as the feed lists it. */
export interface ListedVersion extends PetVersion {
  readonly id: bigint;
}

/** One page of the feed. All its numbers and versions were read at one moment. */
export interface ChangesPage {
  /** In ascending order of revision. The page can be empty although more versions follow. */
  readonly versions: readonly ListedVersion[];
  /** The page is complete up to this revision. For the next page, pass this revision as `after`. */
  readonly upTo: bigint;
  /** Whether more versions followed when the page was read. */
  readonly more: boolean;
  /** The greatest id or revision that was assigned, or 0n if there is none. */
  readonly lastNumber: bigint;
  /**
   * Identifies the history of revisions: 64 random bits as 16 hexadecimal digits. Each new store, each backup file and each
   * restored store gets a new epoch, because a restore may lose writes. A revision has no meaning in another epoch.
   */
  readonly epoch: string;
}

/**
 * Changes and removes stored pets, and lists the newest version of each pet in the order of all writes. Every method can reject
 * with `overloaded` and with `storage_unavailable`.
 *
 * - The revision of a write is the next number of the counter that assigns the ids of pets. Numbers become visible in
 *   ascending order: a read that sees a number also sees every smaller number, even if another process has written it.
 * - A write compares the revision and stores the new version in one step. Of several writers that have read the same
 *   version, only one succeeds.
 * - The write is durable when its promise resolves with a revision.
 * - `PetRepository` neither finds nor lists a removed pet. Its removal stays in the feed, and its id is never assigned again.
 */
export interface PetChanges {
  /** Resolves with the newest version, or with `undefined` when the pet never existed. */
  find(id: bigint, options?: CallOptions): Promise<PetVersion | undefined>;

  /**
   * Stores the attributes of an existing pet, and resolves with its new revision. Resolves with `undefined`, and changes nothing,
   * when the pet does not exist or its revision is not the expected one.
   */
  replace(pet: Pet, expected: bigint, options?: CallOptions): Promise<bigint | undefined>;

  /** Removes a pet. Resolves as {@link PetChanges.replace} does, with the revision of the removal. */
  remove(id: bigint, expected: bigint, options?: CallOptions): Promise<bigint | undefined>;

  /**
   * Resolves with one page of the newest versions of all pets, including removed pets. A reader that sets `after` to the `upTo` of
   * the previous page gets every version, unless a later version of the same pet replaces it first. For each page, a database
   * examines only a limited number of rows.
   */
  list(query: ChangesQuery, options?: CallOptions): Promise<ChangesPage>;

  /**
   * Resolves when all writes that were visible before the call are durable. Needed only by a storage in which a write can be
   * visible before it is durable, for example while it waits for a standby server.
   */
  confirm?(options?: CallOptions): Promise<void>;

  /** Generates a new epoch, so that all readers of the feed begin again. Call this after another program has restored the store. */
  beginEpoch?(): Promise<void>;
}
