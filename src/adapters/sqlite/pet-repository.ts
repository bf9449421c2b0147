import { listQuery } from '../../application/list-pets.ts';
import type { PetRepository } from '../../application/ports/pet-repository.ts';
import { storedPet } from '../../domain/pet.ts';
import { type Cached, PageCache } from '../storage-kit/page-cache.ts';
import { type PetRow, petOf } from '../storage-kit/pet-rows.ts';
import { rowDropped } from '../storage-kit/store-errors.ts';
import { addPet, FIND_PET, petLister } from './pets.ts';
import type { Reads } from './reads.ts';
import type { Writer } from './writer.ts';

/** Until any process writes, equal queries usually return the same page object, which a caller can use as the key of a cache. */
export function petRepository(reads: Reads, writer: Writer): Cached<PetRepository> {
  const findOne = reads.db.prepare<[bigint], PetRow>(FIND_PET).raw();
  const list = petLister(reads.db);
  const pages = new PageCache();

  return {
    statistics: pages.statistics,
    async add(given) {
      // The caller may change its object while the write is pending.
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
      const key = listQuery(query);
      return reads.read(() => {
        pages.enter(reads.version);
        const known = pages.get(key);
        pages.statistics[known === undefined ? 'misses' : 'hits'] += 1;
        if (known !== undefined) return known;
        // Reading one pet more than the limit shows whether more pets match.
        const found = list({ ...query, limit: query.limit + 1 });
        const pets = Object.freeze(found.slice(0, query.limit));
        const page = Object.freeze({ pets, more: found.length > query.limit });
        pages.set(key, page);
        return page;
      });
    },
  };
}
