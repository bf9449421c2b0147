import type { CallOptions, PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { parseStoredPets } from '../../domain/pet-json.ts';
import { PageCache } from '../storage-kit/page-cache.ts';
import { type ApiResponse, unreadable } from './errors.ts';
import type { Send } from './request.ts';

/** Matches the target of the link to the next page (RFC 8288). */
const NEXT = /<([^<>]*)>[^<]*;\s*rel="?next\b/i;

/** The maximum length of a link. */
const LINK_LENGTH = 2000;
/** A page whose entity tag and link are longer is not cached, because the cache counts only its pets. */
const CACHED_LENGTH = 400;

interface Origin {
  readonly query: PetQuery;
  readonly etag: string | undefined;
  readonly next: string | undefined;
}

/** Reads pages of pets, follows the links between them, and reads a page again only when it has changed. */
export class Pages {
  readonly #base: string;
  readonly #send: Send;
  readonly #cache = new PageCache();
  readonly #origins = new WeakMap<PetPage, Origin>();

  constructor(base: string, send: Send) {
    this.#base = base;
    this.#send = send;
  }

  async read(query: PetQuery, options?: CallOptions): Promise<PetPage> {
    const { limit, status, after } = query;
    const filter = status === undefined ? '' : `&status=${status}`;
    const start = after === undefined ? '' : `&after=${after}`;
    const url = `${this.#base}/pets?limit=${limit}${filter}${start}`;
    const cached = this.#cache.get(url);
    const etag = cached && this.#origins.get(cached)?.etag;
    const headers = etag ? { 'If-None-Match': etag } : {};
    const expected = etag ? [200, 304] : [200];
    const response = await this.#send('listPets', url, { expected, headers }, options);
    if (cached !== undefined && response.status === 304) return cached;
    const page = this.#pageOf(response, url, query);
    if (this.#origins.get(page)?.etag !== undefined) this.#cache.set(url, page);
    return page;
  }

  /** The pages of a long list would fill the cache, so none is cached. */
  async next(page: PetPage, options?: CallOptions): Promise<PetPage> {
    const { next: url, query } = this.#origins.get(page) ?? {};
    if (url === undefined || query === undefined) {
      throw unreadable(this.#base, new Error('there is no next page'));
    }
    const response = await this.#send('listPets', url, { expected: [200] }, options);
    return this.#pageOf(response, url, { ...query, after: page.pets.at(-1)?.id });
  }

  #pageOf({ headers, text }: ApiResponse, url: string, query: PetQuery): PetPage {
    try {
      const next = nextUrl(headers, url);
      const pets: readonly Pet[] = Object.freeze(parseStoredPets(text).map((pet) => Object.freeze(pet)));
      checkPage(pets, query, next);
      const page = Object.freeze({ pets, more: next !== undefined });
      const etag = headers.get('ETag') ?? '';
      const isShort = etag.length + (next?.length ?? 0) <= CACHED_LENGTH;
      this.#origins.set(page, { query, etag: isShort && etag ? etag : undefined, next });
      return page;
    } catch (error) {
      throw unreadable(this.#base, error);
    }
  }
}

/** Refuses a page that a cache or a gateway has sent for another query. Following its links could never end. */
function checkPage(pets: readonly Pet[], { limit, status, after }: PetQuery, next: string | undefined): void {
  if (pets.length > limit) throw new Error(`the page has more than ${limit} pets`);
  if (pets.length === 0 && next !== undefined) throw new Error('the page has a next page, and no pets');
  let last = after;
  for (const pet of pets) {
    if (last !== undefined && pet.id <= last)
      throw new Error('the page has ids that are not above the last one');
    if (status !== undefined && pet.status !== status)
      throw new Error(`the page has pets that are not ${status}`);
    last = pet.id;
  }
}

/** Returns the address of the next page. An address of another origin is refused, because it would get the API key. */
function nextUrl(headers: Headers, url: string): string | undefined {
  const [, target] = NEXT.exec(headers.get('Link') ?? '') ?? [];
  if (target === undefined) return undefined;
  const [next, page] = [new URL(target, url), new URL(url)];
  if (next.href.length > LINK_LENGTH)
    throw new Error(`the link to the next page has more than ${LINK_LENGTH} characters`);
  // The origin of `blob:https://...` is that of the address in it.
  const isSame = next.origin === page.origin && next.protocol === page.protocol;
  if (!isSame || next.username !== '' || next.password !== '')
    throw new Error('the next page is at another origin');
  return next.href;
}
