import type { Pet } from '../../domain/pet.ts';
import type { CallOptions } from './pet-repository.ts';

/** A pet in one of its versions. */
export interface PetVersion {
  /** `undefined` when the pet was removed. */
  readonly pet: Pet | undefined;
  /** The number of the write that made this version. The revision of a pet that has never changed is its id. */
  readonly revision: bigint;
}

/** The query for a page of the feed. */
export interface ChangesQuery {
  /** Only versions with a greater revision are listed. By default, the feed starts at the first pet. */
  readonly after?: bigint | undefined;
  /** The maximum number of versions, 1 or more. */
  readonly limit: number;
}

/** The newest version of a pet, in the feed. */
export interface ListedVersion extends PetVersion {
  readonly id: bigint;
}

/** One page of the feed. All its numbers and versions are of one moment. */
export interface ChangesPage {
  /** In ascending order of revision. The page can be empty although more versions follow. */
  readonly versions: readonly ListedVersion[];
  /** Up to which revision the page has all versions: the `after` of the next page. */
  readonly upTo: bigint;
  /** Whether more versions followed when the page was read. */
  readonly more: boolean;
  /** The greatest id or revision that was assigned, or 0n. */
  readonly lastNumber: bigint;
  /**
   * 16 hexadecimal digits (64 random bits), which change when the store may have lost writes: a new store, each backup file
   * and each restore has others. A revision of another epoch means nothing.
   */
  readonly epoch: string;
}

/**
 * Changes and removes stored pets, and lists the newest version of each pet, in the order of all writes. Every method can reject
 * with `overloaded` and with `storage_unavailable`, as those of `PetRepository`.
 *
 * - Each change and each removal takes the next number of the counter that assigns the ids of pets: its revision. Numbers
 *   become visible in their order, those of all processes too: a read that sees a number sees every smaller one.
 * - A write compares and sets in one step: it takes effect only while the revision of the pet is the expected one, so of several
 *   writers that have read the same version one succeeds. The others get `undefined`, and the pet stays as it is.
 * - When a promise has resolved with a revision, the write is durable.
 * - A removed pet is found and listed by `PetRepository` no more, and never again has an id of its own. Its removal stays in the
 *   feed for ever.
 */
export interface PetChanges {
  /** Resolves with the newest version, or with `undefined` when there never was such a pet. */
  find(id: bigint, options?: CallOptions): Promise<PetVersion | undefined>;

  /**
   * Stores the attributes of a pet that exists. Resolves with its new revision, or with `undefined` when its revision is not
   * the expected one, or when it was removed: then nothing has changed.
   */
  replace(pet: Pet, expected: bigint, options?: CallOptions): Promise<bigint | undefined>;

  /** Removes a pet. Resolves as {@link PetChanges.replace} does, with the revision of the removal. */
  remove(id: bigint, expected: bigint, options?: CallOptions): Promise<bigint | undefined>;

  /**
   * Resolves with one page of the newest versions, each pet at most once: those that were never changed, those that were
   * changed, and those that were removed. Who reads page after page, `upTo` of one as `after` of the next, gets every version
   * that stays the newest one, and of others at most one of the later ones. The number of stored rows that a page examines is
   * limited.
   */
  list(query: ChangesQuery, options?: CallOptions): Promise<ChangesPage>;

  /** Draws another epoch, so that every follower begins again. For a store that was restored by other programs. */
  beginEpoch?(): Promise<void>;
}
