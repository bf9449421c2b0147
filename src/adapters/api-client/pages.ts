import type { CallOptions, PetPage } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { parsePets } from '../../domain/pet-json.ts';
import { PageCache } from '../storage-kit/page-cache.ts';
import { type ApiResponse, unreadable } from './errors.ts';
import type { Send } from './request.ts';

/** Matches the target of the link to the next page (RFC 8288). */
const NEXT = /<([^<>]*)>[^<]*;\s*rel="?next\b/i;

interface Origin {
  readonly etag: string | null;
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

  async read(url: string, options?: CallOptions): Promise<PetPage> {
    const cached = this.#cache.get(url);
    const etag = cached && this.#origins.get(cached)?.etag;
    const headers = etag ? { 'If-None-Match': etag } : {};
    const expected = etag ? [200, 304] : [200];
    const response = await this.#send('listPets', url, { expected, headers }, options);
    if (cached !== undefined && response.status === 304) return cached;
    const page = this.#pageOf(response, url);
    this.#cache.set(url, page);
    return page;
  }

  /** The pages of a long list would fill the cache, so none is cached. */
  async next(page: PetPage, options?: CallOptions): Promise<PetPage> {
    const url = this.#origins.get(page)?.next;
    if (url === undefined) throw unreadable(this.#base, new Error('there is no next page'));
    return this.#pageOf(await this.#send('listPets', url, { expected: [200] }, options), url);
  }

  #pageOf({ headers, text }: ApiResponse, url: string): PetPage {
    try {
      const next = nextUrl(headers, url);
      const pets: readonly Pet[] = Object.freeze(parsePets(text).map((pet) => Object.freeze(pet)));
      const page = Object.freeze({ pets, more: next !== undefined });
      this.#origins.set(page, { etag: headers.get('ETag'), next });
      return page;
    } catch (error) {
      throw unreadable(this.#base, error);
    }
  }
}

/** Returns the address of the next page. An address of another origin is refused, because it would get the API key. */
function nextUrl(headers: Headers, url: string): string | undefined {
  const [, target] = NEXT.exec(headers.get('Link') ?? '') ?? [];
  if (target === undefined) return undefined;
  const next = new URL(target, url);
  if (next.origin !== new URL(url).origin) throw new Error('the next page is at another origin');
  return next.href;
}
