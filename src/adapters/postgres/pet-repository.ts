/** Pets in PostgreSQL, whose pages are cached as long as the version of the data is the same. */

import type { PetPage, PetRepository } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { type PageCache, pageKey } from '../storage-kit/page-cache.ts';
import { petOf } from '../storage-kit/pet-rows.ts';
import type { ConnectionPool, ResultRow } from './connection-pool.ts';
import type { Creates } from './creates.ts';
import { listStatement } from './pets.ts';
import { groupedGets, type Read, sharedReads } from './reads.ts';

/** Equal versions tell that nothing was committed between them. After a crash, which resets the statistics, numbers are used again. */
const VERSION =
  "(SELECT concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()))";
const READ_VERSION = { name: 'version', text: `SELECT ${VERSION}` };

/** @param hasVersion whether one server has all the data, so that its version is exact */
export function petRepository(
  read: Read,
  pool: ConnectionPool,
  creates: Creates,
  cache: PageCache,
  hasVersion: boolean,
): PetRepository {
  const sharePage = sharedReads<PetPage>(read);
  const shareVersion = sharedReads<unknown>(read);
  /** Whether the last two versions differed. Then it is not worth a statement to ask for the next one. */
  let isChanging = true;

  /** The query reads one pet more than the limit, to find out whether more pets match. A page without pets has no version. */
  function pageOf(key: string, limit: number, rows: readonly ResultRow[]): PetPage {
    cache.statistics.misses += 1;
    const version = rows[0]?.at(-1) ?? undefined;
    if (version !== undefined) isChanging = cache.enter(version);
    const known = version && cache.get(key);
    if (known) return known;
    const pets = Object.freeze(rows.slice(0, limit).map(petOf));
    const page = Object.freeze({ pets, more: rows.length > limit });
    if (version !== undefined) cache.set(key, page);
    return page;
  }

  return {
    find: groupedGets(read, pool),
    add: async (pet) => (await creates.addCreate({ pet: { ...pet } })) as Pet,
    async list(query) {
      const key = pageKey(query);
      if (!isChanging && cache.get(key) !== undefined) {
        // Another connection can have read a page of an older version in the meantime.
        isChanging = cache.enter(await shareVersion('', READ_VERSION, ([row]) => row?.[0]));
        const cached = cache.get(key);
        if (cached !== undefined) {
          cache.statistics.hits += 1;
          return cached;
        }
      }
      const statement = listStatement({ ...query, limit: query.limit + 1 }, hasVersion ? VERSION : undefined);
      return await sharePage(key, statement, (rows) => pageOf(key, query.limit, rows));
    },
  };
}
