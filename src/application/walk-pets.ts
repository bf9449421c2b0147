import { invalidRequest } from '../domain/errors.ts';
import type { Pet } from '../domain/pet.ts';
import { ANY, checkOptions, type OptionRules } from './arguments.ts';
import { LIMIT_MAX, LIMIT_MIN, type PetPageQuery } from './list-pets.ts';
import { nextTurn } from './next-turn.ts';
import type { PetPage } from './ports/pet-repository.ts';
import type { PetWalk } from './store-options.ts';

const QUERY: OptionRules<PetWalk> = { status: ANY, after: ANY, limit: ANY };

/** @param readPage reads the page of a query, which is the page behind `previous` */
export async function* walkPets(
  readPage: (query: PetPageQuery, previous?: PetPage) => Promise<PetPage>,
  query: PetWalk = {},
): AsyncGenerator<Pet, void, undefined> {
  checkOptions(query, QUERY);
  const { status, after, limit = Infinity } = query;
  if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= LIMIT_MIN)) {
    throw invalidRequest(`limit must be an integer of ${LIMIT_MIN} or more`);
  }
  let left = limit;
  let from: bigint | number | undefined = after;
  let page: PetPage | undefined;
  while (true) {
    page = await readPage({ status, after: from, limit: Math.min(left, LIMIT_MAX) }, page);
    const { pets, more } = page;
    // A page that a link leads to has the limit of the page before.
    yield* pets.slice(0, left);
    left -= pets.length;
    from = pets.at(-1)?.id;
    if (!more || left <= 0 || from === undefined) return;
    // Without this pause, a long iteration over a storage in memory would block the event loop.
    await nextTurn();
  }
}
