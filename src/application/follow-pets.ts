import type { Pet } from '../domain/pet.ts';
import { checkOptions } from './arguments.ts';
import { follow } from './follow.ts';
import { LIMIT_MAX, type PetPageQuery } from './list-pets.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import { FOLLOW_OPTIONS, type FollowOptions } from './store-options.ts';

/**
 * Yields pets as they become visible, in ascending order of id. Ids are in the order in which pets become visible, so the id
 * of the last pet is the position of a follower.
 */
export async function* followPets(
  readPage: (query: PetPageQuery, options: CallOptions) => Promise<PetPage>,
  isClosed: () => boolean,
  options: FollowOptions = {},
): AsyncGenerator<Pet, never, undefined> {
  const { signal, interval, ...query } = checkOptions(options, FOLLOW_OPTIONS);
  return yield* follow<Pet, bigint | number>(
    async (after, call) => {
      const { pets, more } = await readPage({ ...query, after, limit: LIMIT_MAX }, call);
      return { items: pets, next: pets.at(-1)?.id, more };
    },
    isClosed,
    options,
  );
}
