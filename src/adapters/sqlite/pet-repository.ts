/** Pets in SQLite. */

import type Database from 'better-sqlite3';
import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import { storedPet } from '../../domain/pet.ts';
import { PageCache, pageKey } from '../storage-kit/page-cache.ts';
import { PET_COLUMNS, type PetRow, petOf } from '../storage-kit/pet-rows.ts';
import { rowDropped } from '../storage-kit/store-errors.ts';
import { addPet } from './pets.ts';
import type { Reads } from './reads.ts';
import type { Writer } from './writer.ts';

const FIND = `SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`;
const LIST = `SELECT ${PET_COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`;
const LIST_BY_STATUS = `SELECT ${PET_COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`;

/** Until a write by any process, equal queries return the same page object, which can be the key of a caller's cache. */
export function petRepository(
  db: Database.Database,
  reads: Reads,
  writer: Writer,
): PetRepository & { readonly statistics: CacheStatistics } {
  const findOne = db.prepare<[bigint], PetRow>(FIND).raw();
  const list = db.prepare<[bigint, number], PetRow>(LIST).raw();
  const listByStatus = db.prepare<[string, bigint, number], PetRow>(LIST_BY_STATUS).raw();
  const pages = new PageCache();

  /** Reads one pet more than the limit, to find out whether more pets match. */
  function readPage({ limit, status, after = INT64_MIN }: PetQuery): PetPage {
    const rows =
      status === undefined ? list.all(after, limit + 1) : listByStatus.all(status, after, limit + 1);
    const pets = Object.freeze(rows.slice(0, limit).map(petOf));
    return Object.freeze({ pets, more: rows.length > limit });
  }

  return {
    statistics: pages.statistics,
    async add(given) {
      // The caller may change its object in the meantime.
      const pet = { ...given };
      const { rowId, changes } = await writer.storeWrite(addPet(pet));
      if (changes === 0) throw rowDropped();
      return storedPet(rowId, pet);
    },
    find: (id) =>
      reads.read(() => {
        const row = findOne.get(id);
        return row && petOf(row);
      }),
    list(query) {
      const key = pageKey(query);
      return reads.read(() => {
        pages.enter(reads.version);
        const known = pages.get(key);
        pages.statistics[known === undefined ? 'misses' : 'hits'] += 1;
        if (known !== undefined) return known;
        const page = readPage(query);
        pages.set(key, page);
        return page;
      });
    },
  };
}
