import { listQuery } from '../../application/list-query.ts';
import type { CallOptions, PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';
import { parseStoredPets } from '../../domain/pet-json.ts';
import { unreadable } from './errors.ts';
import type { Send } from './request.ts';

/** Matches a link to the next page (RFC 8288). */
const NEXT = /<([^<>]*)>[^<]*;\s*rel="?next\b/i;

/** Returns the address of the next page, which can be relative. */
export function nextLink(headers: Headers): string | undefined {
  return NEXT.exec(headers.get('Link') ?? '')?.[1];
}

export async function readPage(
  base: string,
  send: Send,
  query: PetQuery,
  options?: CallOptions,
): Promise<PetPage> {
  const url = `${base}/pets?${listQuery(query)}`;
  const { headers, text } = await send('listPets', url, { accepted: [200] }, options);
  const more = nextLink(headers) !== undefined;
  try {
    const pets: readonly Pet[] = Object.freeze(parseStoredPets(text).map((pet) => Object.freeze(pet)));
    checkPage(pets, query, more);
    return Object.freeze({ pets, more });
  } catch (error) {
    throw unreadable(base, error);
  }
}

/** Refuses a page that a cache or a gateway has sent for another query. Reading the pages after it could never end. */
function checkPage(pets: readonly Pet[], query: PetQuery, more: boolean): void {
  const { limit, after } = query;
  if (pets.length > limit) throw new Error(`the page has more than ${limit} pets`);
  if (pets.length === 0 && more) throw new Error('the page has a next page, and no pets');
  let last = after;
  for (const pet of pets) {
    if (last !== undefined && pet.id <= last)
      throw new Error('the page has ids that are not above the last one');
    if (!matches(pet, query)) throw new Error('the page has pets that do not match');
    last = pet.id;
  }
}
