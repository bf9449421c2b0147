import { invalidRequest } from '../domain/errors.ts';
import { int64Fault, toInt64 } from '../domain/int64.ts';
import { PET_FILTERS, type PetFilterInput, readFilter } from '../domain/pet-filter.ts';
import type { CallOptions, PetPage, PetQuery, PetRepository } from './ports/pet-repository.ts';

/** The smallest `limit`. A `limit` is the maximum number of pets in a page. */
export const LIMIT_MIN = 1;
/** The largest `limit`. */
export const LIMIT_MAX = 100;
/** The default `limit`. */
export const LIMIT_DEFAULT = 20;

/** The query of {@link ListPets}. */
export interface PetPageQuery extends PetFilterInput {
  /** The maximum number of pets in the page: {@link LIMIT_MIN} to {@link LIMIT_MAX}. Default: {@link LIMIT_DEFAULT}. */
  readonly limit?: number | undefined;
  /** Only pets with an id above this one are listed. To get the next page, pass the id of the last pet of the current page. */
  readonly after?: bigint | number | undefined;
}

/** The use case of `GET /pets`: lists pets, one page at a time. */
export class ListPets {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /** Resolves with one page, as `AnimalStore.listPage` describes. */
  async execute(query: PetPageQuery = {}, options?: CallOptions): Promise<PetPage> {
    const { limit = LIMIT_DEFAULT, after: given } = query;
    const { filter, faults: ofFilter } = readFilter(query);
    const after = toInt64(given);
    const faults = [
      limitFault(limit),
      ...ofFilter,
      after === undefined && given !== undefined ? int64Fault('after', given) : undefined,
    ].filter((fault) => fault !== undefined);
    if (faults.length > 0) throw invalidRequest(faults.join('; '));
    return await this.#pets.list({ limit, ...filter, after }, options);
  }
}

/** Returns the rule that a limit breaks. */
export function limitFault(limit: number): string | undefined {
  if (Number.isInteger(limit) && limit >= LIMIT_MIN && limit <= LIMIT_MAX) return undefined;
  return `limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`;
}

/** Returns the query string of a page, for URLs, links and cache keys. Two queries have the same string only if they are equal. */
export function listQuery(query: PetQuery): string {
  let text = `limit=${query.limit}`;
  for (const name of PET_FILTERS) {
    if (query[name] !== undefined) text += `&${name}=${encodeURIComponent(String(query[name]))}`;
  }
  return query.after === undefined ? text : `${text}&after=${query.after}`;
}
