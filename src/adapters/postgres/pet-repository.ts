import { PageCache, pageKey } from '../../application/page-cache.ts';
import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import { SharedReads } from '../../application/shared-reads.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { Creates } from './creates.ts';
import { listStatement, PETS, petOf } from './pets.ts';
import type { Reader } from './reader.ts';

/**
 * Equal versions tell that no transaction was committed between them: each one that writes gets a number, and leaves the
 * list of running transactions when it ends. After a crash, which resets the statistics, numbers can be used again.
 */
const VERSION =
  "concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())";
const VERSION_COLUMN = 4;

/** Caches pages as long as the version of the data is the same. Equal queries share one statement. */
export class PostgresPetRepository implements PetRepository {
  readonly find: (id: bigint) => Promise<Pet | undefined>;
  readonly statistics = { hits: 0, misses: 0 };
  readonly #reader: Reader;
  readonly #creates: Creates;
  /** The column of a page with its version, which the server computes once. */
  readonly #version: string | undefined;
  readonly #cache = new PageCache();
  readonly #reads = new SharedReads<PetPage>();
  readonly #checks = new SharedReads<unknown>();
  /** Whether the last two versions differed. Then it is not worth a statement to ask for the next one. */
  #isChanging = true;

  /** @param hasVersion whether the version of the data is exact: one server has all the data */
  constructor(reader: Reader, creates: Creates, hasVersion: boolean) {
    this.find = reader.readsOf(PETS);
    this.#reader = reader;
    this.#creates = creates;
    this.#version = hasVersion ? `(SELECT ${VERSION})` : undefined;
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    const id = (await this.#creates.addCreate({ pet: { name, categoryId, status } })) as bigint;
    return Object.freeze({ id, name, categoryId, status });
  }

  async list(query: PetQuery): Promise<PetPage> {
    const key = pageKey(query);
    if (!this.#isChanging && this.#cache.get(key) !== undefined) {
      // Another connection can have read a page of an older version in the meantime.
      this.#cache.enter(await this.#checks.share('version', this.#readVersion));
      const page = this.#cache.get(key);
      if (page !== undefined) {
        this.statistics.hits += 1;
        return page;
      }
    }
    return await this.#reads.share(key, () => this.#read(key, query));
  }

  /** Removes all pages, because the next connection can lead to a server with other data. */
  forgetPages(): void {
    this.#enter(undefined);
  }

  #enter(version: unknown): void {
    this.#isChanging = this.#cache.enter(version);
  }

  readonly #readVersion = async (): Promise<unknown> => {
    const [row = []] = await this.#reader.query({ name: 'version', text: `SELECT ${VERSION}`, values: [] });
    this.#enter(row[0]);
    return row[0];
  };

  /** Reads one pet more than the limit, to find out whether more pets match. A page without pets has no version. */
  async #read(key: string, query: PetQuery): Promise<PetPage> {
    const { limit } = query;
    const rows = await this.#reader.query(listStatement({ ...query, limit: limit + 1 }, this.#version));
    this.statistics.misses += 1;
    const version = rows[0]?.[VERSION_COLUMN];
    if (version !== undefined) this.#enter(version);
    const known = version === undefined ? undefined : this.#cache.get(key);
    if (known !== undefined) return known;
    const pets = Object.freeze(rows.slice(0, limit).map(petOf));
    const page = Object.freeze({ pets, more: rows.length > limit });
    if (version !== undefined) this.#cache.set(key, page);
    return page;
  }
}
