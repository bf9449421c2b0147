import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { type PageCache, pageKey } from '../storage-kit/page-cache.ts';
import { SharedReads } from '../storage-kit/shared-reads.ts';
import type { Creates } from './creates.ts';
import { groupedGets } from './gets.ts';
import { ATTRIBUTES, listStatement, petOf } from './pets.ts';
import type { Read } from './reads.ts';

/**
 * Equal versions tell that no transaction was committed between them: each one that writes gets a number, and leaves the
 * list of running transactions when it ends. After a crash, which resets the statistics, numbers can be used again.
 */
const VERSION =
  "concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())";
const VERSION_COLUMN = 1 + Object.keys(ATTRIBUTES).length;

/**
 * Caches pages as long as the version of the data is the same. Equal queries share one statement.
 *
 * @param hasVersion whether the version of the data is exact: one server has all the data
 */
export function petRepository(
  read: Read,
  creates: Creates,
  cache: PageCache,
  hasVersion: boolean,
): PetRepository {
  const versionColumn = hasVersion ? `(SELECT ${VERSION})` : undefined;
  const pages = new SharedReads<PetPage>();
  const versions = new SharedReads<unknown>();
  /** Whether the last two versions differed. Then it is not worth a statement to ask for the next one. */
  let isChanging = true;

  async function readVersion(): Promise<unknown> {
    const [row = []] = await read({ name: 'version', text: `SELECT ${VERSION}` });
    isChanging = cache.enter(row[0]);
    return row[0];
  }

  /** Reads one pet more than the limit, to find out whether more pets match. A page without pets has no version. */
  async function readPage(key: string, query: PetQuery): Promise<PetPage> {
    const { limit } = query;
    cache.statistics.misses += 1;
    const rows = await read(listStatement({ ...query, limit: limit + 1 }, versionColumn));
    const version = rows[0]?.[VERSION_COLUMN] ?? undefined;
    if (version !== undefined) isChanging = cache.enter(version);
    const known = version === undefined ? undefined : cache.get(key);
    if (known !== undefined) return known;
    const pets = Object.freeze(rows.slice(0, limit).map(petOf));
    const page = Object.freeze({ pets, more: rows.length > limit });
    if (version !== undefined) cache.set(key, page);
    return page;
  }

  return {
    find: groupedGets(read),
    add: async (pet) => (await creates.addCreate({ pet: { ...pet } })) as Pet,
    async list(query) {
      const key = pageKey(query);
      if (!isChanging && cache.get(key) !== undefined) {
        // Another connection can have read a page of an older version in the meantime.
        cache.enter(await versions.share('version', readVersion));
        const cached = cache.get(key);
        if (cached !== undefined) {
          cache.statistics.hits += 1;
          return cached;
        }
      }
      return await pages.share(key, () => readPage(key, query));
    },
  };
}
