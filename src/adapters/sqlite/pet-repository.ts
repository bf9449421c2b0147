import type Database from 'better-sqlite3';
import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet, PetStatus } from '../../domain/pet.ts';
import { PageCache, pageKey } from '../storage-kit/page-cache.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import type { Writer } from './write/writer.ts';

export const ADD_PET = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)';
const FIND = 'SELECT id, name, category_id, status FROM pets WHERE id = ?';
const LIST = 'SELECT id, name, category_id, status FROM pets WHERE id > ? ORDER BY id LIMIT ?';
const LIST_BY_STATUS =
  'SELECT id, name, category_id, status FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?';

export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus];

/** Until a write by any process, equal queries return the same page object, which can be the key of a caller's cache. */
export class SqlitePetRepository implements PetRepository {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: Writer;
  readonly #find: Database.Statement<[bigint], PetRow>;
  readonly #list: Database.Statement<[bigint, number], PetRow>;
  readonly #listByStatus: Database.Statement<[PetStatus, bigint, number], PetRow>;
  readonly #pages = new PageCache();

  constructor(db: Database.Database, snapshot: ReadSnapshot, writer: Writer) {
    this.#snapshot = snapshot;
    this.#writer = writer;
    this.#find = db.prepare<[bigint], PetRow>(FIND).raw();
    this.#list = db.prepare<[bigint, number], PetRow>(LIST).raw();
    this.#listByStatus = db.prepare<[PetStatus, bigint, number], PetRow>(LIST_BY_STATUS).raw();
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    const { rowId } = await this.#writer.storeWrite([ADD_PET, name, categoryId, status]);
    return Object.freeze({ id: rowId, name, categoryId, status });
  }

  get cacheStatistics(): CacheStatistics {
    return { ...this.#pages.statistics };
  }

  find(id: bigint): Promise<Pet | undefined> {
    return this.#snapshot.read(() => {
      const row = this.#find.get(id);
      return row && petOf(row);
    });
  }

  async list(query: PetQuery): Promise<PetPage> {
    const key = pageKey(query);
    const cached = this.#cached(key);
    if (cached !== undefined) {
      this.#pages.statistics.hits += 1;
      return cached;
    }
    return await this.#snapshot.read(() => {
      const read = this.#cached(key);
      if (read !== undefined) return read;
      this.#pages.statistics.misses += 1;
      const page = this.#read(query);
      this.#pages.set(key, page);
      return page;
    });
  }

  #cached(key: string): PetPage | undefined {
    this.#pages.enter(this.#snapshot.enter());
    return this.#pages.get(key);
  }

  /** Reads one pet more than the limit, to find out whether more pets match. */
  #read({ limit, status, after = INT64_MIN }: PetQuery): PetPage {
    const rows =
      status === undefined
        ? this.#list.all(after, limit + 1)
        : this.#listByStatus.all(status, after, limit + 1);
    const pets = Object.freeze(rows.slice(0, limit).map(petOf));
    return Object.freeze({ pets, more: rows.length > limit });
  }
}

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  return Object.freeze({ id, name, categoryId, status });
}
