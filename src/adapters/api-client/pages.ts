import type { CallOptions, PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { parseStoredPets } from '../../domain/pet-json.ts';
import { unreadable } from './errors.ts';
import type { Send } from './request.ts';

/** Matches a link to the next page (RFC 8288). */
const NEXT = /<[^<>]*>[^<]*;\s*rel="?next\b/i;

/** The number of pages whose entity tags are kept, and the maximum length of a tag. */
const CACHE_LIMIT = 50;
const TAG_LENGTH = 200;

/** Returns a function that reads a page of pets. It reads a page again only when the page has changed. */
export function pageReader(
  base: string,
  send: Send,
): (query: PetQuery, options?: CallOptions) => Promise<PetPage> {
  const cached = new Map<string, { readonly page: PetPage; readonly etag: string }>();
  return async (query, options) => {
    const { limit, status, after } = query;
    const filter = status === undefined ? '' : `&status=${status}`;
    const start = after === undefined ? '' : `&after=${after}`;
    const url = `${base}/pets?limit=${limit}${filter}${start}`;
    const known = cached.get(url);
    const request = known
      ? { expected: [200, 304], headers: { 'If-None-Match': known.etag } }
      : { expected: [200] };
    const { status: code, headers, text } = await send('listPets', url, request, options);
    if (known !== undefined && code === 304) return known.page;
    const page = pageOf(text, query, NEXT.test(headers.get('Link') ?? ''), base);
    const etag = headers.get('ETag') ?? '';
    cached.delete(url);
    if (etag !== '' && etag.length <= TAG_LENGTH) cached.set(url, { page, etag });
    for (const oldest of cached.keys()) {
      if (cached.size <= CACHE_LIMIT) break;
      cached.delete(oldest);
    }
    return page;
  };
}

function pageOf(text: string, query: PetQuery, more: boolean, base: string): PetPage {
  try {
    const pets: readonly Pet[] = Object.freeze(parseStoredPets(text).map((pet) => Object.freeze(pet)));
    checkPage(pets, query, more);
    return Object.freeze({ pets, more });
  } catch (error) {
    throw unreadable(base, error);
  }
}

/** Refuses a page that a cache or a gateway has sent for another query. Reading the pages after it could never end. */
function checkPage(pets: readonly Pet[], { limit, status, after }: PetQuery, more: boolean): void {
  if (pets.length > limit) throw new Error(`the page has more than ${limit} pets`);
  if (pets.length === 0 && more) throw new Error('the page has a next page, and no pets');
  let last = after;
  for (const pet of pets) {
    if (last !== undefined && pet.id <= last)
      throw new Error('the page has ids that are not above the last one');
    if (status !== undefined && pet.status !== status)
      throw new Error(`the page has pets that are not ${status}`);
    last = pet.id;
  }
}
