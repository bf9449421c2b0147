import { invalidRequest } from '../domain/errors.ts';
import type { Pet } from '../domain/pet.ts';
import { checkOptions } from './arguments.ts';
import { LIMIT_MAX, LIMIT_MIN, type PetPageQuery } from './list-pets.ts';
import { nextTurn } from './pause.ts';
import type { PetPage } from './ports/pet-repository.ts';
import { type PetWalk, QUERY } from './store-options.ts';

/** Yields the pets of each page in ascending order of id, up to the limit. */
export async function* walkPages(
  readPage: (query: PetPageQuery) => Promise<PetPage>,
  query: PetWalk = {},
): AsyncGenerator<readonly Pet[], void, undefined> {
  const { after, limit = Infinity, ...filter } = checkOptions(query, QUERY);
  if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= LIMIT_MIN)) {
    throw invalidRequest(`limit must be an integer of ${LIMIT_MIN} or more`);
  }
  let left = limit;
  let from = after;
  while (true) {
    const { pets, more } = await readPage({ ...filter, after: from, limit: Math.min(left, LIMIT_MAX) });
    if (pets.length > 0) yield pets;
    left -= pets.length;
    from = pets.at(-1)?.id;
    if (!more || left <= 0 || from === undefined) return;
    // Without this pause, a long iteration over a storage in memory would block the event loop.
    await nextTurn();
  }
}
