import { invalidRequest } from '../domain/errors.ts';
import { int64Fault, toInt64 } from '../domain/int64.ts';
import { type PetStatus, statusFault } from '../domain/pet.ts';
import { ANY, checkOptions, type OptionRules } from './arguments.ts';
import type { CallOptions, PetPage, PetQuery, PetRepository } from './ports/pet-repository.ts';

/** The smallest value of `limit`, the maximum number of pets in a page. */
export const LIMIT_MIN = 1;
/** The largest value of `limit`, the maximum number of pets in a page. */
export const LIMIT_MAX = 100;
/** The default value of `limit`, the maximum number of pets in a page. */
export const LIMIT_DEFAULT = 20;

/** The query of {@link ListPets}. */
export interface PetPageQuery extends Pick<PetQuery, 'status'> {
  /** The maximum number of pets in the page: {@link LIMIT_MIN} to {@link LIMIT_MAX}. Default: {@link LIMIT_DEFAULT}. */
  readonly limit?: number | undefined;
  /**
   * Only pets with an id greater than `after` are listed. By default, the list starts at the first pet. The id is a
   * `bigint` such as `7n`, or a `number` that is a safe integer.
   */
  readonly after?: bigint | number | undefined;
}

const QUERY: OptionRules<PetPageQuery> = { limit: ANY, status: ANY, after: ANY };

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
  async execute(query: PetPageQuery = {}, options?: CallOptions): Promise<PetPage> {
    checkOptions(query, QUERY);
    const { limit = LIMIT_DEFAULT, status, after: given } = query;
    const after = toInt64(given);
    if (!Number.isInteger(limit) || limit < LIMIT_MIN || limit > LIMIT_MAX) {
      throw invalidRequest(`limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`);
    }
    checkStatus(status);
    if (after === undefined && given !== undefined) throw invalidRequest(int64Fault('after', given));
    return await this.#pets.list({ limit, status, after }, options);
  }
}

/** Throws `invalid_request` when a status in a query is not a {@link PetStatus}. */
export function checkStatus(status: PetStatus | undefined): void {
  const fault = status === undefined ? undefined : statusFault(status);
  if (fault !== undefined) throw invalidRequest(fault);
}
