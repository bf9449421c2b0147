import type { PetPage } from '../../application/ports/pet-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import { ATTRIBUTES, PET_ATTRIBUTES, type Pet } from '../../domain/pet.ts';

/** A repository with a cache. */
export type Cached<Repository> = Repository & { readonly statistics: CacheStatistics };

/** In bytes: enough for the first page with each `limit` and each filter, if texts have an ordinary length. */
const SIZE_LIMIT = 12 * 1024 * 1024;
/** Two bytes for the text, and four for the JSON that a caller may cache together with the page. */
const BYTES_PER_CODE_UNIT = 6;
const BYTES_PER_PET = 320;
const BYTES_PER_PAGE = 500;

/**
 * Caches pages of one version of the data. Equal queries get the same page object, so that a caller can use this object as the key
 * of a cache of its own.
 */
export class PageCache {
  readonly statistics: { hits: number; misses: number } = { hits: 0, misses: 0 };
  #pages = new Map<string, PetPage>();
  #size = 0;
  #version: unknown;

  /** Sets the version of the data. If it has changed, removes all pages, and returns `true`. */
  enter(version: unknown): boolean {
    const isOther = version !== this.#version;
    if (isOther) this.#clear();
    this.#version = version;
    return isOther;
  }

  /** Returns the page that was added with this key, if it is still cached. */
  get(key: string): PetPage | undefined {
    return this.#pages.get(key);
  }

  /** Adds a page of the version that was last passed to `enter`, or of a later version. */
  set(key: string, page: PetPage): void {
    const replaced = this.#pages.get(key);
    const size = sizeOf(page);
    if (replaced !== undefined) this.#size -= sizeOf(replaced);
    if (this.#size + size > SIZE_LIMIT) this.#clear();
    this.#size += size;
    this.#pages.set(key, page);
  }

  #clear(): void {
    // `Map.clear` would keep the pages alive, because V8 links the old table of a map to the new one.
    this.#pages = new Map();
    this.#size = 0;
  }
}

/** The attributes whose values can have different lengths. */
const TEXTS = PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].kind === 'text');

function sizeOf({ pets }: PetPage): number {
  const lengthOf = (pet: Pet) => TEXTS.reduce((sum, name) => sum + `${pet[name] ?? ''}`.length, 0);
  const codeUnits = pets.reduce((sum, pet) => sum + lengthOf(pet), 0);
  return BYTES_PER_PAGE + BYTES_PER_PET * pets.length + BYTES_PER_CODE_UNIT * codeUnits;
}
