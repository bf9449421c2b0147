import { AnimalStoreError } from '../domain/errors.ts';
import { INT64_MAX, INT64_MIN, isInt64 } from '../domain/int64.ts';
import { isPetStatus, PET_STATUSES } from '../domain/pet.ts';
import type { PetPage, PetQuery, PetRepository } from './ports/pet-repository.ts';

/** The smallest value of `limit`, the maximum number of pets in a page. */
export const LIMIT_MIN = 1;
/** The largest value of `limit`, the maximum number of pets in a page. */
export const LIMIT_MAX = 100;
/** The default value of `limit`, the maximum number of pets in a page. */
export const LIMIT_DEFAULT = 20;

/** The use case of `GET /pets`: lists pets, one page at a time. */
export class ListPets {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /**
   * Resolves with one page of the matching pets, in ascending order of id. For the next page, set `after` to the id of
   * the last pet of this page. Rejects with `invalid_request` when a value of the query is out of range.
   */
  async execute(query: Partial<PetQuery> = {}): Promise<PetPage> {
    const { limit = LIMIT_DEFAULT, status, after } = query;
    if (!Number.isInteger(limit) || limit < LIMIT_MIN || limit > LIMIT_MAX) {
      throw invalid(`limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`);
    }
    if (status !== undefined && !isPetStatus(status)) {
      throw invalid(`status must be one of ${PET_STATUSES.join(', ')}`);
    }
    if (after !== undefined && !isInt64(after)) {
      throw invalid(`after must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
    }
    return await this.#pets.list({ limit, status, after });
  }
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}
