import type { PetPage, PetQuery } from './ports/pet-repository.ts';

/**
 * The maximum size of the cache, in bytes. The size of a page is estimated from the lengths of its names. With names of
 * ordinary length, the cache has room for the first page for every `limit` and every status.
 */
const SIZE_LIMIT = 12 * 1024 * 1024;

/**
 * The estimated number of bytes for each UTF-16 code unit of a name. A code unit takes two bytes in the name. A caller
 * may cache JSON together with the page, and a code unit takes up to six bytes in this JSON.
 */
const BYTES_PER_CODE_UNIT = 6;
const BYTES_PER_PET = 320;
const BYTES_PER_PAGE = 500;

/**
 * The pages of a storage, as long as the version of its data is the same. A storage that returns the same page object
 * for equal queries allows its caller to use this object as the key of a cache.
 */
export class PageCache {
  readonly #pages = new Map<string, PetPage>();
  #size = 0;
  #version: unknown;

  /** Sets the version of the data. Removes all pages when it differs from the last version, and returns whether it does. */
  enter(version: unknown): boolean {
    if (version === this.#version) return false;
    this.#version = version;
    this.#clear();
    return true;
  }

  get(key: string): PetPage | undefined {
    return this.#pages.get(key);
  }

  /** Adds a page that was read after the version that was entered last. Removes all other pages when there are too many. */
  set(key: string, page: PetPage): void {
    const size = sizeOf(page);
    if (this.#size + size > SIZE_LIMIT) this.#clear();
    this.#size += size;
    this.#pages.set(key, page);
  }

  #clear(): void {
    this.#pages.clear();
    this.#size = 0;
  }
}

/** Returns a string that is the same for equal queries only. */
export function pageKey({ limit, status, after }: PetQuery): string {
  return `${limit} ${status} ${after}`;
}

function sizeOf({ pets }: PetPage): number {
  const codeUnits = pets.reduce((sum, { name }) => sum + name.length, 0);
  return BYTES_PER_PAGE + BYTES_PER_PET * pets.length + BYTES_PER_CODE_UNIT * codeUnits;
}
