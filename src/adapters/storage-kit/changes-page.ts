/** Makes a page of the feed from two parts, which a storage reads separately: pets that were never changed, and all others. */

import type { ChangesPage, ListedVersion, PetVersion } from '../../application/ports/pet-changes.ts';
import type { Pet } from '../../domain/pet.ts';
import { type PetRow, petOf } from './pet-rows.ts';

/** The maximum number of stored pets that are examined for one page, to find those that were never changed. */
export const EXAMINED_LIMIT = 10_000;

/** The rows that a storage has read in one snapshot, for a page after the revision `after`. */
export interface ReadChanges extends Pick<ChangesPage, 'epoch' | 'lastNumber'> {
  readonly after: bigint;
  readonly limit: number;
  /** The first changed and removed pets, at most `limit + 1`, in ascending order of revision. */
  readonly changed: readonly ListedVersion[];
  /**
   * The first pets that were never changed, at most `limit + 1`. Their ids, which are also their revisions, are not greater than
   * the result of {@link lastRevisionOf}.
   */
  readonly unchanged: readonly Pet[];
  /** The last id that was examined, if {@link EXAMINED_LIMIT} ended the search for pets that were never changed. */
  readonly examinedUpTo?: bigint | undefined;
}

/** Returns the last revision that the page can contain, or `undefined` if all changed pets that were read fit on the page. */
export function lastRevisionOf(changed: readonly ListedVersion[], limit: number): bigint | undefined {
  return changed.length > limit ? changed[limit - 1]?.revision : undefined;
}

/** Returns the page made from the two parts. */
export function changesPage(read: ReadChanges): ChangesPage {
  const { after, limit, changed, unchanged, examinedUpTo, epoch, lastNumber } = read;
  const found = [...changed, ...unchanged.map((pet) => ({ id: pet.id, pet, revision: pet.id }))]
    .filter(({ revision }) => examinedUpTo === undefined || revision <= examinedUpTo)
    .sort((a, b) => (a.revision < b.revision ? -1 : 1));
  const versions = found.slice(0, limit);
  const isFull = found.length > limit;
  const upTo = (isFull ? undefined : examinedUpTo) ?? versions.at(-1)?.revision ?? after;
  return { versions, upTo, more: isFull || examinedUpTo !== undefined, epoch, lastNumber };
}

/** Converts a row: a revision, which is null before the first change, and the columns of a pet, which are null after a removal. */
export function versionOf([revision, ...row]: PetRow): PetVersion | undefined {
  const pet = row[0] === null ? undefined : petOf(row);
  const number = (revision ?? pet?.id) as bigint | undefined;
  return number === undefined ? undefined : { pet, revision: number };
}

/** Converts the row of a changed or removed pet: its revision, its id, and its columns, which are null after a removal. */
export function listedVersion([revision, id, ...row]: PetRow): ListedVersion {
  const pet = row[0] === null ? undefined : petOf(row);
  return { id: id as bigint, revision: revision as bigint, pet };
}
