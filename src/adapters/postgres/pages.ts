import { PageCache, pageKey } from '../../application/page-cache.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import { SharedReads } from '../../application/shared-reads.ts';
import { listStatement, petOf } from './pets.ts';
import type { Reader } from './reader.ts';

/**
 * The version of the data. Equal versions tell that no transaction was committed between them, because each transaction
 * that writes gets a number, and leaves the list of running transactions when it ends. The numbers can be used again
 * after a crash and by another server, so the version has the start of the server, and the last reset of its statistics,
 * which follows a crash.
 */
const VERSION =
  "concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())";
const VERSION_COLUMN = 4;

/**
 * Reads pages of pets, and caches them as long as the version of the data is the same. Until then, equal queries return
 * the same page object. Equal queries share one statement, and all checks of the version share one.
 */
export class Pages {
  readonly #reader: Reader;
  /** The column of a page with its version, which the server computes once. */
  readonly #version: string | undefined;
  readonly #cache = new PageCache();
  readonly #reads = new SharedReads<PetPage>();
  readonly #checks = new SharedReads<unknown>();
  /** Whether the last two versions differed. */
  #isChanging = true;
  #hits = 0;
  #misses = 0;

  /** @param hasVersion whether the version of the data is exact: one server has all the data */
  constructor(reader: Reader, hasVersion: boolean) {
    this.#reader = reader;
    this.#version = hasVersion ? `(SELECT ${VERSION})` : undefined;
  }

  /** How many pages were found in the cache, and how many were read. */
  get statistics(): CacheStatistics {
    return { hits: this.#hits, misses: this.#misses };
  }

  list(query: PetQuery): Promise<PetPage> {
    const key = pageKey(query);
    return this.#isChanging || this.#cache.get(key) === undefined
      ? this.#share(key, query)
      : this.#findOrRead(key, query);
  }

  /** Removes all pages, because the next connection can lead to a server with other data. */
  forget(): void {
    this.#isChanging = true;
    this.#cache.enter(undefined);
  }

  async #findOrRead(key: string, query: PetQuery): Promise<PetPage> {
    // Another connection can have read a page of an older version in the meantime.
    this.#cache.enter(await this.#checks.share('version', this.#checkVersion));
    const page = this.#cache.get(key);
    if (page === undefined) return await this.#share(key, query);
    this.#hits += 1;
    return page;
  }

  readonly #checkVersion = async (): Promise<unknown> => {
    const [row] = await this.#reader.query({ name: 'version', text: `SELECT ${VERSION}`, values: [] });
    this.#isChanging = this.#cache.enter(row?.[0]);
    return row?.[0];
  };

  #share(key: string, query: PetQuery): Promise<PetPage> {
    return this.#reads.share(key, () => this.#read(key, query));
  }

  /** Reads one pet more than the limit, to find out whether more pets match. A page without pets has no version. */
  async #read(key: string, query: PetQuery): Promise<PetPage> {
    const { limit } = query;
    const rows = await this.#reader.query(listStatement({ ...query, limit: limit + 1 }, this.#version));
    this.#misses += 1;
    const version = rows[0]?.[VERSION_COLUMN];
    if (version !== undefined) this.#isChanging = this.#cache.enter(version);
    const known = version === undefined ? undefined : this.#cache.get(key);
    if (known !== undefined) return known;
    const page = Object.freeze({
      pets: Object.freeze(rows.slice(0, limit).map(petOf)),
      more: rows.length > limit,
    });
    if (version !== undefined) this.#cache.set(key, page);
    return page;
  }
}
