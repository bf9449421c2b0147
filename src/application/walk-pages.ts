/** Iterates over the pages of a store, to the end or for ever. */

import { asAnimalStoreError, invalidRequest } from '../domain/errors.ts';
import type { Pet } from '../domain/pet.ts';
import { checkOptions, type OptionRules } from './arguments.ts';
import { LIMIT_MAX, LIMIT_MIN, type PetPageQuery } from './list-pets.ts';
import { nextTurn, pause } from './pause.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import { type Following, type PetWalk, QUERY } from './store-options.ts';
import { itemsUntilAborted } from './until-aborted.ts';

/** Yields, page by page, at most `limit` pets in ascending order of id. */
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

/** In milliseconds. */
const DEFAULT_INTERVAL = 1000;
/** The longest wait because of a `Retry-After`, in milliseconds. The server can recover earlier than it has announced. */
const LONGEST_DELAY = 60_000;

/** After one of these errors, a later read can succeed. */
const TEMPORARY: readonly unknown[] = ['overloaded', 'rate_limited', 'storage_unavailable'];
/** Includes `internal_error`, which may affect only one request to the server. */
const TEMPORARY_OF_SERVER: readonly unknown[] = [...TEMPORARY, 'internal_error'];

type Followed = Following & { readonly after?: unknown };

/**
 * Yields items as they become visible, until the store is closed. Throws when the first read fails. When a later read fails with a
 * temporary error, waits and reads again. `return()` and `throw()` end a pending `next()`; a plain generator would wait for it.
 */
export function follow<Item, Options extends Followed>(
  readPage: (
    query: Omit<Options, keyof Following> & { readonly limit: number },
    options: CallOptions,
  ) => Promise<{ readonly items: readonly Item[]; readonly next: Options['after']; readonly more: boolean }>,
  options: Options,
  rules: OptionRules<Options>,
  closing: AbortSignal,
  isRemote = false,
): AsyncGenerator<Item, void, undefined> {
  const ending = new AbortController();
  const following = (async function* () {
    const { signal: given = closing, interval = DEFAULT_INTERVAL, ...query } = checkOptions(options, rules);
    const signal = AbortSignal.any([closing, ending.signal, given]);
    let { after } = options;
    /** Is undefined until the first page has been read. */
    let delay: number | undefined;
    try {
      while (true) {
        let items: readonly Item[] = [];
        try {
          const page = await readPage({ ...query, after, limit: LIMIT_MAX }, { signal });
          items = page.items;
          after = page.next ?? after;
          delay = page.more ? 0 : interval;
        } catch (error) {
          const { code, retryAfter = 0 } = asAnimalStoreError(error) ?? {};
          const temporary = isRemote ? TEMPORARY_OF_SERVER : TEMPORARY;
          if (delay === undefined || !temporary.includes(code)) throw error;
          delay = Math.max(interval, Math.min(retryAfter * 1000, LONGEST_DELAY));
        }
        yield* itemsUntilAborted(items, signal);
        // The pause lets other pending work run while many pages follow each other.
        await (delay === 0 ? nextTurn() : pause(delay, signal));
      }
    } catch (error) {
      if (error !== ending.signal.reason) throw error;
    }
  })() as AsyncGenerator<Item, void, undefined>;
  for (const method of ['return', 'throw'] as const) {
    const end = following[method];
    following[method] = (value: never) => {
      ending.abort();
      return end.call(following, value);
    };
  }
  return following;
}
