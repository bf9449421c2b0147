import { asAnimalStoreError, type ErrorCode } from '../domain/errors.ts';
import type { Pet } from '../domain/pet.ts';
import { checkOptions } from './arguments.ts';
import { LIMIT_MAX, type PetPageQuery } from './list-pets.ts';
import { nextTurn } from './next-turn.ts';
import { pause } from './pause.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import { FOLLOW_OPTIONS, type FollowOptions } from './store-options.ts';

/** In milliseconds. */
const DEFAULT_INTERVAL = 1000;
/** A longer `Retry-After` is not waited for: it would stop the follower long after the server is back. */
const LONGEST_DELAY = 60_000;

/** After one of these errors, a later read can succeed. */
const TEMPORARY: readonly ErrorCode[] = ['overloaded', 'rate_limited', 'storage_unavailable'];

/**
 * Yields pets as they become visible, in ascending order of id. Ids are in the order in which pets become visible, so the
 * id of the last pet is all that a follower must remember.
 */
export async function* followPets(
  readPage: (query: PetPageQuery, options: CallOptions) => Promise<PetPage>,
  isClosed: () => boolean,
  options: FollowOptions = {},
): AsyncGenerator<Pet, never, undefined> {
  const { status, signal, interval = DEFAULT_INTERVAL } = options;
  checkOptions(options, FOLLOW_OPTIONS);
  let { after } = options;
  let hasRead = false;
  while (true) {
    let delay = interval;
    let pets: readonly Pet[] = [];
    try {
      const page = await readPage({ status, after, limit: LIMIT_MAX }, { signal });
      pets = page.pets;
      hasRead = true;
      if (page.more) delay = 0;
    } catch (error) {
      const { code, retryAfter = 0 } = asAnimalStoreError(error) ?? {};
      const isTemporary = code !== undefined && TEMPORARY.includes(code);
      if (!hasRead || !isTemporary || isClosed()) throw error;
      delay = Math.max(interval, Math.min(retryAfter * 1000, LONGEST_DELAY));
    }
    yield* pets;
    after = pets.at(-1)?.id ?? after;
    // The pause lets other pending work run while many pages follow each other.
    await (delay === 0 ? nextTurn() : pause(delay, signal));
    signal?.throwIfAborted();
  }
}
